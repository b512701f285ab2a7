import type { ChildProcess } from "node:child_process";
import { tmpdir } from "node:os";
import type { Transport } from "@codexkit/rpc";
import { CodexError } from "../errors.ts";
import { type Environment, mergeEnvironments } from "./child-environment.ts";
import { ChildTransport } from "./child-transport.ts";
import { type AppServerSettings, appServerArguments } from "./app-server-arguments.ts";
import { explainStartFailure } from "./explain-start-failure.ts";
import { findCodex, type FoundCodex } from "./find-codex.ts";
import { codexHomeFolder, isInside, workingFolder } from "./launch-folders.ts";
import type { ProcessLimits } from "./limits.ts";
import { connectToListening } from "./listening-server.ts";
import { OwnedProcess } from "./owned-process.ts";
import { ManifestFile, ownersFolder } from "./owner-manifest.ts";
import { newMark } from "./owner-mark.ts";
import { spawnCommand } from "./spawn-command.ts";
import { startFailed } from "./start-failed.ts";
import { sweepOrphans } from "./sweep-orphans.ts";

export interface LaunchAppServerOptions extends AppServerSettings {
  /** The codex to run; see `findCodex` for what is used otherwise. */
  readonly codexPath?: string | undefined;
  /** Arguments before `app-server`, when `codexPath` is a wrapper: `docker` with `["exec", "-i", "box", "codex"]`. */
  readonly wrapperArgs?: readonly string[] | undefined;
  /** Variables for Codex and its commands; undefined takes one away. */
  readonly env?: Environment | undefined;
  /** False starts from an empty environment instead of this process's own. */
  readonly inheritEnv?: boolean | undefined;
  /** A `CODEX_HOME` of its own (configuration, credentials, threads); made if it is missing. */
  readonly codexHome?: string | undefined;
  readonly cwd?: string | undefined;
  /** `stdio://` unless told; on `ws://IP:PORT` or `unix://PATH` other clients may join. */
  readonly listen?: string | undefined;
  /** The bearer token of a server that listens with `--ws-auth`. */
  readonly token?: string | undefined;
  /** Hears every line of Codex's log. */
  readonly onStderr?: ((line: string) => void) | undefined;
  readonly limits?: Partial<ProcessLimits> | undefined;
  /** Is given the child as soon as there is one: to `unref` it, or to see how it exits. */
  readonly onSpawn?: ((child: ChildProcess) => void) | undefined;
  /** Where owners keep their manifests; see `ownersFolder`. */
  readonly ownersFolder?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A codex that this program owns. Disposing it ends it and everything that came out of it. */
export interface LaunchedAppServer extends AsyncDisposable {
  /** One connection, not yet initialized. */
  readonly transport: Transport;
  readonly process: OwnedProcess;
  readonly codex: FoundCodex;
  /** Where it listens; undefined on stdio. */
  readonly url: string | undefined;
  /** What the user should know, though it did not stop the launch. */
  readonly warnings: readonly string[];
  /** The error for a handshake that failed, with what the process printed. */
  explainFailure(why: CodexError): CodexError;
  dispose(): Promise<void>;
}

/**
 * Finds a codex, ends the orphans of owners that died, and starts `codex app-server`. What is wrong with the options is
 * an error before anything starts; a codex that dies later says why through its transport.
 */
export async function launchAppServer(options: LaunchAppServerOptions = {}): Promise<LaunchedAppServer> {
  const { signal, listen = "stdio://" } = options;
  throwIfAborted(signal);
  checkListen(listen);
  const mark = newMark();
  const args = appServerArguments(options, listen, mark);
  const cwd = options.cwd === undefined ? undefined : await workingFolder(options.cwd);
  const codex = findCodex({ path: options.codexPath, env: { ...process.env, ...options.env } });
  const home =
    options.codexHome === undefined ? {} : { CODEX_HOME: await codexHomeFolder(options.codexHome) };
  const env = mergeEnvironments([options.inheritEnv === false ? {} : process.env, options.env ?? {}, home]);
  const command = spawnCommand(codex.path, [...(options.wrapperArgs ?? []), ...args]);

  const folder = options.ownersFolder ?? ownersFolder();
  const warnings = [...homeWarnings(env), ...(await sweepOrphans(folder)).problems];
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
  options.onSpawn?.(owned.child);
  const isStdio = listen === "stdio://";
  // A listening server has no stdin to lose: it is told to go.
  const stop = (): Promise<void> => owned.stop(isStdio ? "stdin" : "SIGTERM");
  try {
    await untilSpawned(owned, codex);
    const listening = isStdio ? undefined : await connectToListening(owned, listen, options);
    const transport = new ChildTransport(owned, listening?.transport);
    const dispose = async (): Promise<void> => {
      await Promise.all([transport.close(), stop()]);
    };
    return {
      transport,
      process: owned,
      codex,
      url: listening?.url,
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

function checkListen(listen: string): void {
  if (listen === "stdio://" || listen.startsWith("ws://") || /^unix:\/\/./.test(listen)) return;
  throw new CodexError(
    "invalid_argument",
    `listen is ${JSON.stringify(listen)}; expected stdio://, ws://IP:PORT or unix://PATH.`,
  );
}

/** Codex refuses to make its helper programs inside the temp folder; commands then get no PTY in the sandbox. */
function homeWarnings(env: Environment): string[] {
  const home = env["CODEX_HOME"];
  const temp = env["TMPDIR"] ?? tmpdir();
  if (!home || process.platform === "win32" || !isInside(home, temp)) return [];
  return [
    `CODEX_HOME ${home} is inside the temp folder ${temp}: sandboxed commands will have no terminal. Choose another place, or set TMPDIR.`,
  ];
}

/** Without a manifest Codex still runs, and still goes with its owner; only `kill -9` of the owner could leave a process. */
function openManifest(folder: string, mark: string, warnings: string[]): ManifestFile | undefined {
  try {
    return new ManifestFile(folder, mark);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
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
    throw startFailed(codex, cause as Error);
  }
}

/** Until the system has started it, or has said why not. */
async function untilSpawned(owned: OwnedProcess, codex: FoundCodex): Promise<void> {
  await Promise.race([new Promise((resolve) => owned.child.once("spawn", resolve)), owned.ended]);
  if (owned.startError) throw startFailed(codex, owned.startError);
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) {
    throw new CodexError("aborted", "The launch of codex was aborted.", { cause: signal.reason });
  }
}
