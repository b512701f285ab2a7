#!/usr/bin/env node
import { setFlagsFromString } from "node:v8";
import { ExecError } from "../errors.ts";
import { ExecServer } from "../server/exec-server.ts";
import { parseOptions, USAGE } from "./options.ts";

// A server moves bytes and keeps few objects: a small young generation gives memory back sooner.
setFlagsFromString("--semi-space-growth-factor=2");

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  if (!options) {
    process.stdout.write(USAGE);
    return;
  }
  await using server = await ExecServer.start(options);
  if (server.url !== undefined) process.stdout.write(`${server.url}\n`);
  const stop = (): void => {
    void server.close().then(() => process.exit(0));
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
  await server.done;
}

await main().catch((error: unknown) => {
  const known = error instanceof ExecError;
  process.stderr.write(`codexkit-exec-server: ${known ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
// Not left to the event loop: a stdin that is still open must not keep a server alive that has nobody to serve.
process.exit();
