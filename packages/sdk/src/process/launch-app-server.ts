import { messageOf } from "@codexkit/rpc/async";
import type { ChildProcess } from "node:child_process";
import { tmpdir } from "node:os";
import type { Transport } from "@codexkit/rpc";
import { CodexError } from "../errors.ts";
import { type Environment, mergeEnvironments } from "./child-environment.ts";
import { type AppServerSettings, toArguments } from "./app-server-arguments.ts";
import { explainStartFailure } from "./explain-start-failure.ts";
import { findCodex, type FoundCodex } from "./find-codex.ts";
import { createCodexHome, isInside, checkWorkingFolder } from "./launch-folders.ts";
import type { ProcessLimits } from "./limits.ts";
import { OwnedProcess } from "./owned-process.ts";
import { listManifests, ManifestFile, manifestPath, ownersFolder } from "./owner-manifest.ts";
import { newMark } from "./owner-mark.ts";
import { spawnCommand } from "./spawn-command.ts";
import { explainSpawnError } from "./explain-spawn-error.ts";

export interface LaunchAppServerOptions extends AppServerSettings {
  /** The codex binary. Default: see `findCodex`. */
  readonly codexPath?: string | undefined;
  /** Arguments before `app-server` if `codexPath` is a wrapper: `docker` with `["exec", "-i", "box", "codex"]`. */
  readonly wrapperArgs?: readonly string[] | undefined;
  /** Environment variables for Codex and its commands. Undefined removes one. */
  readonly env?: Environment | undefined;
  /** Whether to inherit `process.env`. Default: true. */
  readonly inheritEnv?: boolean | undefined;
  /** A separate `CODEX_HOME` (configuration, credentials, threads). Created if it does not exist. */
  readonly codexHome?: string | undefined;
  readonly cwd?: string | undefined;
  /** Default: `stdio://`. With `ws://IP:PORT` or `unix://PATH`, other clients can connect too. */
  readonly listen?: string | undefined;
  /** Bearer token for a server with `--ws-auth`. */
  readonly token?: string | undefined;
  /** Called with each line of Codex's log. */
  readonly onStderr?: ((line: string) => void) | undefined;
  readonly limits?: Partial<ProcessLimits> | undefined;
  /** Called with the child as soon as it is spawned, for example to `unref` it. */
  readonly onSpawn?: ((child: ChildProcess) => void) | undefined;
  /** The folder for owner manifests. Default: see `ownersFolder`. */
  readonly ownersFolder?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A launched codex. Disposing it ends the process and its descendants. */
export interface LaunchedAppServer extends AsyncDisposable {
  /** One connection, not yet initialized. */
  readonly transport: Transport;
  readonly process: OwnedProcess;
  readonly codex: FoundCodex;
  /** The URL it listens on. Undefined for stdio. */
  readonly url: string | undefined;
  /** Problems that did not prevent the launch. */
  readonly warnings: readonly string[];
  /** Creates the error for a failed handshake, including the process's output. */
  explainFailure(why: CodexError): CodexError;
  dispose(): Promise<void>;
}

/**
 * Finds codex, starts `codex app-server`, and ends the orphans of killed owners. Invalid options are rejected before anything
 * starts. If codex exits later, the transport's error explains why.
 */
export async function launchAppServer(options: LaunchAppServerOptions = {}): Promise<LaunchedAppServer> {
  const { signal, listen = "stdio://" } = options;
  throwIfAborted(signal);
  checkListen(listen);
  const mark = newMark();
  const args = toArguments(options, listen, mark);
  const cwd = options.cwd === undefined ? undefined : checkWorkingFolder(options.cwd);
  const codex = findCodex({ path: options.codexPath, env: { ...process.env, ...options.env } });
  const home = options.codexHome === undefined ? {} : { CODEX_HOME: createCodexHome(options.codexHome) };
  const env = mergeEnvironments([options.inheritEnv === false ? {} : process.env, options.env ?? {}, home]);
  const command = spawnCommand(codex.path, [...(options.wrapperArgs ?? []), ...args]);

  const folder = options.ownersFolder ?? ownersFolder();
  const isStdio = listen === "stdio://";
  const warnings = checkCodexHome(env);
  // An orphan may hold the address that this server is to listen on. Otherwise the sweep runs while codex starts.
  if (!isStdio) await sweep(folder, warnings);
  throwIfAborted(signal);

  const owned = spawnOwned(codex, {
    ...command,
    cwd,
    env,
    mark,
    manifest: openManifest(folder, mark, warnings),
    onStderr: options.onStderr,
    limits: options.limits,
  });
  // A listening server ignores the end of its stdin.
  const stop = (): Promise<void> => owned.stop(isStdio ? "stdin" : "SIGTERM");
  try {
    options.onSpawn?.(owned.child);
    await waitUntilSpawned(owned, codex);
    if (isStdio && !isOnlyManifest(folder, mark)) await sweep(folder, warnings);
    const { url, transport } = await openTransport(owned, listen, options);
    const dispose = async (): Promise<void> => {
      await Promise.all([transport.close(), stop()]);
    };
    return {
      transport,
      process: owned,
      codex,
      url,
      warnings,
      explainFailure: (why) => explainStartFailure(codex, owned.stderrTail, why),
      dispose,
      [Symbol.asyncDispose]: dispose,
    };
  } catch (error) {
    await stop();
    if (error instanceof CodexError && error.code === "codex_start_failed" && !owned.startError) {
      throw explainStartFailure(codex, owned.stderrTail, error);
    }
    throw error;
  }
}

/** Opens the connection. Loads its modules after the spawn, like `sweep`. */
async function openTransport(
  owned: OwnedProcess,
  listen: string,
  options: LaunchAppServerOptions,
): Promise<{ transport: Transport; url: string | undefined }> {
  const { ChildTransport } = await import("./child-transport.ts");
  if (listen === "stdio://") return { transport: new ChildTransport(owned), url: undefined };
  const { connectToListening } = await import("./connect-to-listening.ts");
  const { transport, url } = await connectToListening(owned, listen, options);
  return { transport: new ChildTransport(owned, transport), url };
}

function checkListen(listen: string): void {
  if (listen === "stdio://" || listen.startsWith("ws://") || /^unix:\/\/./.test(listen)) return;
  throw new CodexError(
    "invalid_argument",
    `listen is ${JSON.stringify(listen)}; expected stdio://, ws://IP:PORT or unix://PATH.`,
  );
}

/** Codex creates no helper programs inside the temp folder. Sandboxed commands then have no PTY. */
function checkCodexHome(env: Environment): string[] {
  const home = env["CODEX_HOME"];
  const temp = env["TMPDIR"] ?? tmpdir();
  if (!home || process.platform === "win32" || !isInside(temp, home)) return [];
  return [
    `CODEX_HOME ${home} is inside the temp folder ${temp}: sandboxed commands will have no terminal. Choose another folder, or set TMPDIR.`,
  ];
}

/** Ends the orphans of killed owners. Loaded here, so that the spawn of codex does not wait for it. */
async function sweep(folder: string, warnings: string[]): Promise<void> {
  const { sweepOrphans } = await import("./sweep-orphans.ts");
  for (const problem of (await sweepOrphans(folder)).problems) {
    if (!warnings.includes(problem)) warnings.push(problem);
  }
}

/** Whether there is nothing to sweep, so that the sweep need not be loaded. */
function isOnlyManifest(folder: string, mark: string): boolean {
  try {
    const paths = listManifests(folder);
    return paths.length === 1 && paths[0] === manifestPath(folder, mark);
  } catch {
    return false; // The sweep reports it.
  }
}

/** A failure is only a warning: without a manifest, a process can be left behind only by `kill -9` of its owner. */
function openManifest(folder: string, mark: string, warnings: string[]): ManifestFile | undefined {
  try {
    return new ManifestFile(folder, mark);
  } catch (error) {
    const problem = messageOf(error);
    if (!warnings.includes(problem)) warnings.push(problem);
    return undefined;
  }
}

function spawnOwned(codex: FoundCodex, options: ConstructorParameters<typeof OwnedProcess>[0]): OwnedProcess {
  try {
    return new OwnedProcess(options);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === "ERR_INVALID_ARG_VALUE") throw new CodexError("invalid_argument", message, { cause });
    throw explainSpawnError(codex, cause as Error);
  }
}

/** Waits until the system has started the process. Rejects if it could not. */
async function waitUntilSpawned(owned: OwnedProcess, codex: FoundCodex): Promise<void> {
  await Promise.race([new Promise((resolve) => owned.child.once("spawn", resolve)), owned.ended]);
  if (owned.startError) throw explainSpawnError(codex, owned.startError);
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) {
    throw new CodexError("aborted", "The launch of codex was aborted.", { cause: signal.reason });
  }
}
