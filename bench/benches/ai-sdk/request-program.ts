// A program that makes one request with the provider named by its argument, and reports the times.
import { once } from "node:events";

import type { CodexHome } from "../turns/codex-home.ts";

const [message] = (await once(process, "message")) as [Pick<CodexHome, "codex" | "workspace" | "env">];
const home = { ...message, [Symbol.asyncDispose]: async () => {} };
// Node's own lazy modules are loaded by now; the rest is the provider's time.
const began = performance.now();
const contender = await load(process.argv[2]);
const imported = performance.now();
const provider = await contender.open(home);
const text = await provider.generate("at once: 1");
const answered = performance.now();
if (!text.endsWith("at once: 1")) throw new Error(`the answer was ${JSON.stringify(text)}`);
await provider[Symbol.asyncDispose]();
const closed = performance.now();
process.send?.({ import: imported - began, total: answered - began, closed: closed - began }, () =>
  process.disconnect(),
);

async function load(name: string | undefined) {
  switch (name) {
    case "ours":
      return (await import("./ours.ts")).ours;
    case "codex-cli":
      return (await import("./codex-cli.ts")).codexCli;
    default:
      return (await import("./codex-app-server.ts")).codexAppServer;
  }
}
