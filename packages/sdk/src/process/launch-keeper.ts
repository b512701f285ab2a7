import { connectWebSocket } from "@codexkit/rpc";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { CodexError } from "../errors.ts";
import { appServerArguments } from "./app-server-arguments.ts";
import { ChildTransport } from "./child-transport.ts";
import { mergeEnvironments } from "./child-environment.ts";
import { explainStartFailure } from "./explain-start-failure.ts";
import { findCodex } from "./find-codex.ts";
import { makeKeeperFolder, removeKeeperFolder, sweepKeeperFolders } from "./keeper-folder.ts";
import { keeperReady, type KeeperSettings } from "./keeper-settings.ts";
import { killGroup } from "./kill-group.ts";
import type { LaunchAppServerOptions, LaunchedAppServer } from "./launch-app-server.ts";
import { codexHomeFolder, workingFolder } from "./launch-folders.ts";
import { PROCESS_LIMITS } from "./limits.ts";
import type { ProcessEnd } from "./owned-process.ts";
import { ownersFolder } from "./owner-manifest.ts";
import { newMark } from "./owner-mark.ts";
import { spawnCommand } from "./spawn-command.ts";
import { StderrTail } from "./stderr-tail.ts";
import { sweepOrphans } from "./sweep-orphans.ts";

export interface OutliveOwner {
  /** How long the server stays when no client is connected. */
  readonly graceMs: number;
}

/** A server that outlives this program. */
export interface OutlivingServer extends Pick<
  LaunchedAppServer,
  "transport" | "warnings" | "explainFailure"
> {
  readonly url: string;
  readonly codexPid: number;
  /** Ends the server now. */
  dispose(): Promise<void>;
  /** Leaves the server to its grace period. */
  detach(): Promise<void>;
}

const LIMITS = {
  /** How long the keeper may take to have codex listen. */
  startMs: 30_000,
  /** How long it may take to end after SIGTERM: as long as codex at each step of its end, and a moment. */
  endMs: PROCESS_LIMITS.terminateMs + PROCESS_LIMITS.killMs + 4_000,
} as const;

/** Starts codex under a keeper: a process of its own that stays when this one dies, and ends after the grace period. */
export async function launchKeeper(
  options: LaunchAppServerOptions,
  { graceMs }: OutliveOwner,
): Promise<OutlivingServer> {
  checkPlatform();
  if (!(graceMs > 0) || !Number.isFinite(graceMs)) {
    throw new CodexError("invalid_argument", `outliveOwner.graceMs must be above 0, got ${String(graceMs)}.`);
  }
  const { signal } = options;
  const wantedPath = socketPathOf(options.listen);
  const codex = findCodex({ path: options.codexPath, env: { ...process.env, ...options.env } });
  const cwd = options.cwd === undefined ? undefined : await workingFolder(options.cwd);
  const home =
    options.codexHome === undefined ? {} : { CODEX_HOME: await codexHomeFolder(options.codexHome) };
  const owners = options.ownersFolder ?? ownersFolder();
  const { problems: warnings } = await sweepOrphans(owners);
  sweepKeeperFolders();
  if (signal?.aborted) throw launchAborted(signal);
  const folder = makeKeeperFolder();
  const socketPath = wantedPath ?? join(folder, "app-server.sock");
  let keeper: Keeper;
  try {
    const codexSocketPath = join(folder, "codex.sock");
    const mark = newMark();
    const args = appServerArguments(options, `unix://${codexSocketPath}`, mark);
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
  options.onSpawn?.(keeper.child);
  const url = `unix://${socketPath}`;
  try {
    const { codexPid } = await keeper.ready(signal);
    const inner = await connectWebSocket(url, signal ? { signal } : {});
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
    "outliveOwner needs unix sockets, which Codex does not have on Windows.",
  );
}

function launchAborted(signal: AbortSignal): CodexError {
  return new CodexError("aborted", "The launch of codex was aborted.", { cause: signal.reason });
}

function socketPathOf(listen: string | undefined): string | undefined {
  if (listen === undefined) return undefined;
  const path = /^unix:\/\/(?<path>\/.+)$/.exec(listen)?.groups?.["path"];
  if (path !== undefined) return path;
  throw new CodexError(
    "invalid_argument",
    `With outliveOwner, listen must be unix:///absolute/path, got ${JSON.stringify(listen)}.`,
  );
}

/** The keeper's process, as the program that started it sees it. */
class Keeper {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly ended: Promise<ProcessEnd>;
  readonly #folder: string;
  readonly #ownersFolder: string;
  readonly #stderr: StderrTail;

  constructor(settings: KeeperSettings, onStderr?: (line: string) => void) {
    const program = join(import.meta.dirname, `keeper-program${import.meta.filename.slice(-3)}`);
    this.#folder = settings.folder;
    this.#ownersFolder = settings.ownersFolder;
    // In a session of its own: the end of this program's terminal is not its end. And in no folder that could be removed.
    this.child = spawn(process.execPath, [program], { detached: true, stdio: "pipe", cwd: tmpdir() });
    const { promise, resolve } = Promise.withResolvers<ProcessEnd>();
    this.ended = promise;
    this.child.once("error", () => resolve({ code: null, signal: null }));
    this.child.once("close", (code, signal) => resolve({ code, signal }));
    this.#stderr = new StderrTail(this.child.stderr, PROCESS_LIMITS, onStderr);
    this.child.stdin.on("error", () => {});
    this.child.stdin.end(JSON.stringify(settings));
  }

  get stderrTail(): string {
    return this.#stderr.text;
  }

  /** Resolves when clients can connect. */
  async ready(signal: AbortSignal | undefined): Promise<{ codexPid: number }> {
    const lines = createInterface({ input: this.child.stdout });
    const limit = AbortSignal.timeout(LIMITS.startMs);
    const stop = signal ? AbortSignal.any([signal, limit]) : limit;
    try {
      const line = once(lines, "line", { signal: stop }).then(([text]) => String(text));
      line.catch(() => {}); // The end may come first.
      const first = await Promise.race([line, this.ended]);
      if (typeof first === "string") return keeperReady.parse(JSON.parse(first));
      throw new CodexError("codex_start_failed", this.describeEnd(first));
    } catch (error) {
      if (error instanceof CodexError) throw error;
      if (signal?.aborted) throw launchAborted(signal);
      throw new CodexError("codex_start_failed", `Codex did not listen within ${LIMITS.startMs} ms.`, {
        cause: error,
      });
    } finally {
      lines.close();
      this.child.stdout.resume();
      this.#keepProgramAlive(false);
    }
  }

  /** Once it is ready, the connection keeps this program alive as long as it is used, and the keeper does not. */
  #keepProgramAlive(isKept: boolean): void {
    // A pipe is a socket, whatever its type says.
    const { child } = this;
    for (const handle of [child, child.stdout, child.stderr] as { ref?(): void; unref?(): void }[]) {
      if (isKept) handle.ref?.();
      else handle.unref?.();
    }
  }

  async endedWithin(limitMs: number): Promise<ProcessEnd | undefined> {
    const waiting = new AbortController();
    const limit = delay(limitMs, undefined, { signal: waiting.signal }).catch(() => undefined);
    try {
      return await Promise.race([this.ended, limit]);
    } finally {
      waiting.abort();
    }
  }

  describeEnd({ code, signal }: ProcessEnd): string {
    const how = signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
    const tail = this.#stderr.lastWords;
    return `Codex ${how}${tail === "" ? "" : `; its last words:\n${tail}`}`;
  }

  /** Ends the keeper, and with it codex; both are gone when this returns. */
  async stop(): Promise<void> {
    this.#keepProgramAlive(true);
    this.child.kill("SIGTERM");
    if (!(await this.endedWithin(LIMITS.endMs)) && this.child.pid !== undefined) {
      killGroup(this.child.pid, "SIGKILL");
      await this.endedWithin(LIMITS.endMs);
    }
    // A keeper that could not end by itself leaves its folder, and may leave codex.
    if (!existsSync(this.#folder)) return;
    await sweepOrphans(this.#ownersFolder);
    removeKeeperFolder(this.#folder);
  }
}
