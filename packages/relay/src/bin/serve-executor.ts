import { readFile } from "node:fs/promises";
import { StdinCredential } from "../credentials/stdin-credential.ts";
import { RelayError } from "../errors.ts";
import { openIdentityFile } from "../executor/identity-file.ts";
import { type ExecutorOptions, runExecutor } from "../executor/run-executor.ts";
import { chooseCredential } from "./choose-credential.ts";
import type { ExecutorFlags, ForwardFlags } from "./executor-flags.ts";
import { tuneGarbageCollector } from "../used-buffers.ts";

/** Runs an executor until a signal, or until its parent closes stdin. */
export async function serveExecutor(flags: ExecutorFlags | ForwardFlags): Promise<void> {
  tuneGarbageCollector();
  const credential = chooseCredential(flags);
  const { jsonLogger } = await import("@codexkit/exec-server");
  const log = jsonLogger(flags.logLevel, (line) => process.stderr.write(line));
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
  const failed = Promise.withResolvers<never>();
  if (credential instanceof StdinCredential) credential.closed.then(stop, failed.reject);
  else if (flags.exitOnStdinClose === true) process.stdin.on("end", stop).on("close", stop).resume();
  const running = run({ ...(await executorOptions(flags)), credential, log, signal: stopping.signal }, flags);
  await Promise.race([running, failed.promise]).catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });
}

async function run(
  options: ExecutorOptions,
  { remote, environmentId, name }: ExecutorFlags | ForwardFlags,
): Promise<void> {
  await using executor = await runExecutor(options);
  const label = name === undefined ? "" : ` (${name})`;
  process.stdout.write(`Connected to ${remote} as the executor of ${environmentId}${label}.\n`);
  await executor.closed;
}

async function executorOptions(
  flags: ExecutorFlags | ForwardFlags,
): Promise<Omit<ExecutorOptions, "credential">> {
  const { identityFile, name } = flags;
  const shared = {
    registryUrl: flags.remote,
    environmentId: flags.environmentId,
    allowInsecureHttp: flags.allowInsecureHttp ?? false,
    ...(name === undefined ? {} : { name }),
    ...(identityFile === undefined ? {} : { identity: await openIdentityFile(identityFile) }),
  };
  if ("connect" in flags) {
    const token = flags.connectTokenFile === undefined ? undefined : await readToken(flags.connectTokenFile);
    return { ...shared, forwardTo: { url: flags.connect, ...(token === undefined ? {} : { token }) } };
  }
  const { remoteTransport: transport, bwrap, concurrentRequests } = flags;
  return {
    ...shared,
    transport,
    server: {
      ...(bwrap === undefined ? {} : { bwrap }),
      ...(concurrentRequests === undefined ? {} : { concurrentRequests }),
    },
  };
}

async function readToken(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new RelayError("bad_option", `--connect-token-file: ${path} can't be read.`, { cause });
  });
  return text.trim();
}
