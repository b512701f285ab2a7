// A daemon in a process of its own, for tests that kill it. Reads its settings from the first argument, and prints its URL.
import { createDaemon, type DaemonOptions } from "@codexkit/daemon";

interface Settings extends DaemonOptions {
  readonly port: number;
  readonly env: Record<string, string | undefined>;
}

const { port, env, ...options } = JSON.parse(process.argv[2] ?? "") as Settings;
const daemon = await createDaemon({
  ...options,
  nodeName: "here",
  codex: { inheritEnv: false, env },
  logger: "warn",
  drainMs: 500,
});
process.once("SIGTERM", () => void daemon.close());
process.stdout.write(`${await daemon.listen({ port })}\n`);
