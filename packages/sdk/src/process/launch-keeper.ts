import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

import { CodexError } from "../errors.ts";
import { toArguments } from "./app-server-arguments.ts";
import { connectToServer } from "./connect-to-server.ts";
import { ChildTransport } from "./child-transport.ts";
import { mergeEnvironments } from "./child-environment.ts";
import { explainStartFailure } from "./explain-start-failure.ts";
import { findCodex } from "./find-codex.ts";
import { createKeeperFolder, removeKeeperFolder } from "./keeper-folder.ts";
import { KEEP, KEEPER_SOCKETS, type KeeperReady, type KeeperSettings } from "./keeper-settings.ts";
import { killGroup } from "./kill-group.ts";
import type { LaunchAppServerOptions, LaunchedAppServer } from "./launch-app-server.ts";
import { createCodexHome, checkWorkingFolder } from "./launch-folders.ts";
import { PROCESS_LIMITS } from "./limits.ts";
import { describeProcessEnd, type ProcessEnd, waitForEnd } from "./owned-process.ts";
import { ownersFolder } from "./owner-manifest.ts";
import { newMark } from "./owner-mark.ts";
import { spawnCommand } from "./spawn-command.ts";
import { StderrTail } from "./stderr-tail.ts";
import { sweepKeeperFolders } from "./sweep-keeper-folders.ts";
import { sweepOrphans } from "./sweep-orphans.ts";

export interface OutliveOwner {
  /** How long the server keeps running without a connected client. */
  readonly graceMs: number;
  /**
   * Records how a successor finds the server. Called for each server that is launched. Until it resolves, the server ends with
   * this program, so that no server is left running that no successor can find. If it rejects, the launch fails with its error.
   */
  readonly register?: (server: OutlivingAddress) => void | Promise<void>;
}

/** How a successor finds a server that has outlived its owner. */
export interface OutlivingAddress {
  readonly url: string;
  readonly pid: number;
}

/** A server that outlives this program. */
export interface OutlivingServer extends Pick<
  LaunchedAppServer,
  "transport" | "warnings" | "explainFailure"
> {
  readonly url: string;
  readonly codexPid: number;
  /** Ends the server immediately. */
  dispose(): Promise<void>;
  /** Disconnects. The server ends after its grace period. */
  detach(): Promise<void>;
}

const LIMITS = {
  /** How long codex may take to listen. */
  startTimeoutMs: 30_000,
  /** How long the keeper may take to end after SIGTERM, which includes ending codex. */
  endTimeoutMs: PROCESS_LIMITS.terminateTimeoutMs + PROCESS_LIMITS.killTimeoutMs + 4_000,
} as const;

/** Starts codex under a keeper, a separate process that survives this one and ends after the grace period. */
export async function launchKeeper(
  options: LaunchAppServerOptions,
  { graceMs, register }: OutliveOwner,
): Promise<OutlivingServer> {
  checkPlatform();
  if (!(graceMs > 0) || !Number.isFinite(graceMs)) {
    throw new CodexError(
      "invalid_argument",
      `outliveOwner.graceMs must be greater than 0, got ${String(graceMs)}.`,
    );
  }
  const { signal } = options;
  const wantedPath = parseSocketPath(options.listen);
  const codex = findCodex({ path: options.codexPath, env: { ...process.env, ...options.env } });
  const cwd = options.cwd === undefined ? undefined : checkWorkingFolder(options.cwd);
  const home = options.codexHome === undefined ? {} : { CODEX_HOME: createCodexHome(options.codexHome) };
  const owners = options.ownersFolder ?? ownersFolder();
  const { problems: warnings } = await sweepOrphans(owners);
  sweepKeeperFolders();
  if (signal?.aborted) throw launchAbortedError(signal);
  const folder = createKeeperFolder();
  const socketPath = wantedPath ?? join(folder, KEEPER_SOCKETS.keeper);
  let keeper: Keeper;
  try {
    const codexSocketPath = join(folder, KEEPER_SOCKETS.codex);
    const mark = newMark();
    const args = toArguments(options, `unix://${codexSocketPath}`, mark);
    const command = spawnCommand(codex.path, [...(options.wrapperArgs ?? []), ...args]);
    const settings: KeeperSettings = {
      command: command.command,
      args: [...command.args],
      ...(cwd === undefined ? {} : { cwd }),
      env: mergeEnvironments([options.inheritEnv === false ? {} : process.env, options.env ?? {}, home]),
      mark,
      ownersFolder: owners,
      folder,
      socketPath,
      codexSocketPath,
      graceMs,
      limits: { ...options.limits },
    };
    keeper = new Keeper(settings, options.onStderr);
  } catch (error) {
    removeKeeperFolder(folder);
    throw error;
  }
  const url = `unix://${socketPath}`;
  try {
    options.onSpawn?.(keeper.child);
    const { codexPid } = await keeper.ready(signal);
    await register?.({ url, pid: codexPid });
    keeper.confirm();
    const inner = await connectToServer(url, signal ? { signal } : {});
    const transport = new ChildTransport(keeper, inner);
    return {
      url,
      codexPid,
      transport,
      warnings,
      explainFailure: (why) => explainStartFailure(codex, keeper.stderrTail, why),
      dispose: async () => {
        await Promise.all([transport.close(), keeper.stop()]);
      },
      detach: () => transport.close(),
    };
  } catch (error) {
    await keeper.stop();
    if (error instanceof CodexError && error.code === "codex_start_failed") {
      throw explainStartFailure(codex, keeper.stderrTail, error);
    }
    throw error;
  }
}

function checkPlatform(): void {
  if (process.platform !== "win32") return;
  throw new CodexError(
    "invalid_argument",
    "outliveOwner needs unix sockets, which Codex does not support on Windows.",
  );
}

function launchAbortedError(signal: AbortSignal): CodexError {
  return new CodexError("aborted", "The launch of codex was aborted.", { cause: signal.reason });
}

function parseSocketPath(listen: string | undefined): string | undefined {
  if (listen === undefined) return undefined;
  const path = /^unix:\/\/(?<path>\/.+)$/.exec(listen)?.groups?.["path"];
  if (path !== undefined) return path;
  throw new CodexError(
    "invalid_argument",
    `With outliveOwner, listen must be unix:///absolute/path, got ${JSON.stringify(listen)}.`,
  );
}

const EXTENSION = import.meta.filename.slice(-3);

const PROGRAM = join(import.meta.dirname, `keeper-program${EXTENSION}`);

/** In this repository, other packages may not be built. */
const CONDITIONS = EXTENSION === ".ts" ? ["--conditions=codexkit:source"] : [];

/** The keeper's process. */
class Keeper {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly ended: Promise<ProcessEnd>;
  readonly #folder: string;
  readonly #ownersFolder: string;
  readonly #stderr: StderrTail;

  constructor(settings: KeeperSettings, onStderr?: (line: string) => void) {
    this.#folder = settings.folder;
    this.#ownersFolder = settings.ownersFolder;
    // Detached, so that it survives this program's terminal. Runs in a folder that is never removed.
    this.child = spawn(process.execPath, [...CONDITIONS, PROGRAM], {
      detached: true,
      stdio: "pipe",
      cwd: tmpdir(),
    });
    const { promise, resolve } = Promise.withResolvers<ProcessEnd>();
    this.ended = promise;
    this.child.once("error", () => resolve({ code: null, signal: null }));
    this.child.once("close", (code, signal) => resolve({ code, signal }));
    this.#stderr = new StderrTail(this.child.stderr, PROCESS_LIMITS, onStderr);
    this.child.stdin.on("error", () => {});
    this.child.stdin.write(`${JSON.stringify(settings)}\n`);
  }

  get stderrTail(): string {
    return this.#stderr.text;
  }

  /** Lets the server outlive this program from now on. */
  confirm(): void {
    this.child.stdin.end(`${KEEP}\n`);
  }

  /** Resolves when clients can connect. */
  async ready(signal: AbortSignal | undefined): Promise<KeeperReady> {
    const lines = createInterface({ input: this.child.stdout });
    const limit = AbortSignal.timeout(LIMITS.startTimeoutMs);
    const stop = signal ? AbortSignal.any([signal, limit]) : limit;
    try {
      const line = once(lines, "line", { signal: stop }).then(([text]) => String(text));
      line.catch(() => {}); // The process may end first.
      const first = await Promise.race([line, this.ended]);
      if (typeof first === "string") return JSON.parse(first) as KeeperReady;
      throw new CodexError("codex_start_failed", this.describeEnd(first));
    } catch (error) {
      if (error instanceof CodexError) throw error;
      if (signal?.aborted) throw launchAbortedError(signal);
      throw new CodexError("codex_start_failed", `Codex did not listen within ${LIMITS.startTimeoutMs} ms.`, {
        cause: error,
      });
    } finally {
      lines.close();
      this.child.stdout.resume();
      this.#keepProgramAlive(false);
    }
  }

  /** Once the keeper is ready, only the connection keeps this program's event loop alive. */
  #keepProgramAlive(isKept: boolean): void {
    // A pipe is a socket with `ref` and `unref`, despite its type.
    const { child } = this;
    for (const handle of [child, child.stdout, child.stderr] as { ref?(): void; unref?(): void }[]) {
      if (isKept) handle.ref?.();
      else handle.unref?.();
    }
  }

  endedWithin(limitMs: number): Promise<ProcessEnd | undefined> {
    return waitForEnd(this.ended, limitMs);
  }

  describeEnd(end: ProcessEnd): string {
    return `Codex ${describeProcessEnd(end, this.#stderr.plainText)}`;
  }

  /** Ends the keeper and codex, and waits for both. */
  async stop(): Promise<void> {
    this.#keepProgramAlive(true);
    this.child.kill("SIGTERM");
    if (!(await this.endedWithin(LIMITS.endTimeoutMs)) && this.child.pid !== undefined) {
      killGroup(this.child.pid, "SIGKILL");
      await this.endedWithin(LIMITS.endTimeoutMs);
    }
    // A killed keeper leaves its folder, and possibly codex.
    if (!existsSync(this.#folder)) return;
    await sweepOrphans(this.#ownersFolder);
    removeKeeperFolder(this.#folder);
  }
}
