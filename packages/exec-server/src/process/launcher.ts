import { LineSplitter } from "@codexkit/rpc";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { constants } from "node:os";
import type { Server } from "node:net";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { EXEC_LIMITS } from "../limits.ts";
import { jsonLine } from "../wire/json-line.ts";
import type { NamespaceListeners } from "./child.ts";
import type { ListenerReport, LaunchOrder, LaunchReport } from "./launch-order.ts";
import { PROGRAM_EXTENSION } from "../program-extension.ts";

export interface Launched {
  readonly pid: number;
  /**
   * Resolves to the exit code when the child exits: 128 plus the signal number if it was killed by a signal.
   */
  readonly exited: Promise<{ code: number; signalled: boolean }>;
}

interface Waiting {
  readonly started: PromiseWithResolvers<number>;
  readonly exited: PromiseWithResolvers<{ code: number; signalled: boolean }>;
  readonly listeners: NamespaceListeners | undefined;
  pid: number | undefined;
}

type LauncherProcess = ChildProcessByStdio<Writable, Readable, null>;

const PROGRAM = fileURLToPath(new URL(`launcher-program.${PROGRAM_EXTENSION}`, import.meta.url));

/** Exit code of a process killed by a signal, minus the signal number, as shells report it. */
const SIGNAL_BASE = 128;

/**
 * Starts children through a small separate process, which kills them all when the server ends, including after `kill -9`.
 */
export class Launcher implements AsyncDisposable {
  readonly #folder: string;
  readonly #waiting = new Map<number, Waiting>();
  #process: LauncherProcess | undefined;
  #nextId = 0;
  #stopped = false;

  constructor(folder: string) {
    this.#folder = folder;
    this.#process = this.#start();
  }

  /** Starts a child. Rejects with the system's error if it can't be started. */
  async launch(
    order: Omit<LaunchOrder, "id" | "listeners">,
    listeners?: NamespaceListeners,
  ): Promise<Launched> {
    const id = this.#nextId++;
    const waiting: Waiting = {
      started: Promise.withResolvers(),
      exited: Promise.withResolvers(),
      listeners,
      pid: undefined,
    };
    this.#waiting.set(id, waiting);
    this.#process ??= this.#start();
    this.#process.stdin.write(jsonLine({ ...order, listeners: listeners?.open, id }));
    try {
      return { pid: await waiting.started.promise, exited: waiting.exited.promise };
    } catch (error) {
      this.#waiting.delete(id);
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    const child = this.#process;
    if (!child) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    const limit = setTimeout(() => child.kill("SIGKILL"), EXEC_LIMITS.stopTimeoutMs);
    child.stdin.end();
    await gone;
    clearTimeout(limit);
  }

  #start(): LauncherProcess {
    const child = spawn(process.execPath, ["--no-warnings", "--expose-gc", PROGRAM, this.#folder], {
      // In its own session, so that a signal to the server's group does not end it before it has cleaned up.
      detached: true,
      // Children get their environment with the order. The launcher's own is empty, so that a program that
      // finds and kills the server's descendants by an environment variable does not kill the process that
      // cleans up.
      env: {},
      // The IPC channel passes sockets.
      stdio: ["pipe", "pipe", "ignore", "ipc"],
    }) as LauncherProcess;
    const lines = new LineSplitter(EXEC_LIMITS.launchReportBytes, (line) =>
      this.#onReport(JSON.parse(line) as LaunchReport),
    );
    child.stdout.on("data", (bytes: Buffer) => lines.push(bytes));
    child.stdin.on("error", () => {});
    child.on("message", (report, listener) =>
      this.#receiveListener(report as ListenerReport, listener as Server | undefined),
    );
    child.once("error", () => this.#lost(child));
    child.once("close", () => this.#lost(child));
    child.unref();
    child.channel?.unref();
    return child;
  }

  #onReport(report: LaunchReport): void {
    const waiting = this.#waiting.get(report.id);
    if (!waiting) return;
    if ("pid" in report) {
      waiting.pid = report.pid;
      waiting.started.resolve(report.pid);
      return;
    }
    this.#waiting.delete(report.id);
    if ("failure" in report) {
      const { code, errno } = report.failure;
      waiting.started.reject(Object.assign(new Error(code), { code, errno }));
    } else waiting.exited.resolve(exitOf(report.exit));
  }

  #receiveListener({ id, listener: name }: ListenerReport, listener: Server | undefined): void {
    if (!listener) return;
    const listeners = this.#waiting.get(id)?.listeners;
    if (listeners) listeners.received(name, listener);
    else listener.close();
  }

  /**
   * Called when the launcher was killed. Its children are killed too, and the next start creates a new
   * launcher.
   */
  #lost(child: LauncherProcess): void {
    if (this.#process !== child || this.#stopped) return;
    this.#process = undefined;
    for (const { pid, started, exited } of this.#waiting.values()) {
      if (pid === undefined) started.reject(new LauncherLost("EIO"));
      else killGroup(pid);
      exited.resolve({ code: -1, signalled: true });
    }
    this.#waiting.clear();
  }
}

/** Reported to clients as an I/O error. */
class LauncherLost extends Error {
  readonly code = "EIO";
  readonly errno = -5;
}

/** Whether a launch failed because the launcher ended. Then it is not known whether the child was started. */
export function isLauncherLost(error: unknown): boolean {
  return error instanceof LauncherLost;
}

function exitOf({ code, signal }: { code: number | null; signal: NodeJS.Signals | null }): {
  code: number;
  signalled: boolean;
} {
  if (signal === null) return { code: code ?? -1, signalled: false };
  return { code: SIGNAL_BASE + (constants.signals[signal] ?? 0), signalled: true };
}

function killGroup(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // The group is empty.
  }
}
