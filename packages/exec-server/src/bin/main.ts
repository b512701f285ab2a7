import { createRequire } from "node:module";
import { ExecError } from "../errors.ts";
import { jsonLogger } from "../logger.ts";
import { ExecServer, PROTOCOL_VERSION } from "../server/exec-server.ts";
import { SERVER_LIMITS } from "../limits.ts";
import { IdleCollector } from "../process/idle-collector.ts";
import { parseCommandLine, USAGE } from "./command-line.ts";

/** Set by the start script, together with `GLIBC_TUNABLES`. */
const TUNABLES_MARK = "CODEXKIT_EXEC_TUNABLES";

// By default, Node opens a debugger port on this signal, through which every local user could run code here.
process.on("SIGUSR1", () => {});

async function main(): Promise<void> {
  removeAllocatorSettings();
  const command = parseCommandLine(process.argv.slice(2));
  if (command.kind === "help") {
    process.stdout.write(USAGE);
    return;
  }
  if (command.kind === "version") {
    process.stdout.write(
      `codexkit-exec-server ${packageVersion()} (protocol of Codex ${PROTOCOL_VERSION})\n`,
    );
    return;
  }
  const log = jsonLogger(command.logLevel, (line) => process.stderr.write(line));
  using _collector = new IdleCollector({
    collect: () => globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" }),
    retentionMs: SERVER_LIMITS.closedRetentionMs,
  });
  await using server = await ExecServer.start({ ...command.options, log });
  const stop = (signal: NodeJS.Signals): void => {
    log.info("stopping", { signal });
    void server.close().then(() => process.exit(0));
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
  // Printed after the handlers are installed, because a program that reads it may send a signal at once.
  if (server.url !== undefined) process.stdout.write(`${server.url}\n`);
  await server.done;
}

/**
 * Removes settings that the start script added for this process only, so that commands don't inherit them.
 */
function removeAllocatorSettings(): void {
  if (process.env[TUNABLES_MARK] === undefined) return;
  delete process.env[TUNABLES_MARK];
  delete process.env["GLIBC_TUNABLES"];
}

function packageVersion(): string {
  const { version } = createRequire(import.meta.url)("../../package.json") as { version: string };
  return version;
}

await main().catch((error: unknown) => {
  const isKnown = error instanceof ExecError;
  process.stderr.write(`codexkit-exec-server: ${isKnown ? error.message : String(error)}\n`);
  process.exitCode = isKnown && error.code === "bad_option" ? 2 : 1;
});
// Exits explicitly: an open stdin must not keep the server alive after its client has disconnected.
process.exit();
