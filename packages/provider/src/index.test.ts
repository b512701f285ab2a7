import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

/** Imports a module and prints the URL of every module that this loads. */
const PROGRAM = `
  import { registerHooks } from "node:module";
  const urls = [];
  registerHooks({
    load: (url, context, next) => {
      urls.push(url);
      return next(url, context);
    },
  });
  await import(process.argv[1]);
  console.log(JSON.stringify(urls));
`;

async function loadedBy(entry: string): Promise<string> {
  const url = new URL(entry, import.meta.url).href;
  const args = ["--conditions=codexkit:source", "--input-type=module", "--eval", PROGRAM, url];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout;
}

const AGENTS = /packages\/(?:sdk|approvals|protocol)\/|@agentclientprotocol/;

describe("the entry points", () => {
  it.each(["./index.ts", "./stub/index.ts", "./conformance/index.ts"])("load no agent: %s", async (entry) => {
    expect(await loadedBy(entry)).not.toMatch(AGENTS);
  });

  it.each(["./codex/index.ts", "./acp/index.ts"])("load their agent's client: %s", async (entry) => {
    expect(await loadedBy(entry)).toMatch(AGENTS);
  });
});
