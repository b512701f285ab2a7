import { withTimeout } from "@codexkit/rpc/async";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { killOwned, listOwned } from "./end-owned.ts";
import { endAtExit, cancelEndAtExit } from "./end-at-exit.ts";
import type { Claim } from "./find-owned.ts";
import { killGroup } from "./kill-group.ts";
import { PROCESS_LIMITS, type ProcessLimits } from "./limits.ts";
import { toMarkValue, newMark, OWNER_VARIABLE } from "./owner-mark.ts";
import { type ManifestFile, withUnknownStart } from "./owner-manifest.ts";
import { processTable } from "./process-table.ts";
import { StderrTail } from "./stderr-tail.ts";

export interface OwnedProcessOptions {
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string | undefined;
  /** The complete environment. Default: `process.env`. The owner's mark is added. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Whether the arguments are already quoted for `cmd.exe`. */
  readonly windowsVerbatimArguments?: boolean;
  /** Called with each line of stderr. */
  readonly onStderr?: ((line: string) => void) | undefined;
  readonly limits?: Partial<ProcessLimits> | undefined;
  /** The id in the environment of the process and its descendants. Default: a new one. */
  readonly mark?: string;
  /** Kept on disk while the process exists, so that a later start finds it if this program is killed. */
  readonly manifest?: ManifestFile | undefined;
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Interval between searches for surviving descendants. */
const RECHECK_MS = 10;

/** Number of searches without an interval, after one that found nothing but was not certain. */
const QUICK_SEARCHES = 2;

/** The steps of `stop`, in order. */
export type StopStep = "stdin" | "SIGTERM" | "SIGKILL";

/**
 * A child process that ends with its owner, including its descendants. It leads its own process group and session and has a mark
 * in its environment. When it ends for any reason, its surviving descendants are killed.
 */
export class OwnedProcess implements AsyncDisposable {
  readonly child: ChildProcessWithoutNullStreams;
  /** Settles when the process has exited and its output has been read. Never rejects. */
  readonly ended: Promise<ProcessEnd>;
  readonly #command: string;
  readonly #limits: ProcessLimits;
  readonly #stderr: StderrTail;
  readonly #manifest: ManifestFile | undefined;
  readonly #claim: Claim;
  /** Pids that are known not to be descendants, so that the search after the exit is short. */
  readonly #unrelated = new Set<number>();
  #startError: Error | undefined;
  #hasExited = false;
  #cleared: Promise<void> | undefined;

  /** Throws if an argument is invalid or if there are no file descriptors left. */
  constructor(options: OwnedProcessOptions) {
    const { command, args = [], cwd, env = process.env, mark = newMark(), manifest } = options;
    this.#command = command;
    this.#limits = { ...PROCESS_LIMITS, ...options.limits };
    this.#manifest = manifest;
    try {
      this.child = spawn(command, args, {
        cwd,
        env: { ...env, [OWNER_VARIABLE]: toMarkValue(mark) },
        stdio: "pipe",
        // Creates a process group, which can be killed as a whole. On Windows it would open a window instead.
        detached: process.platform !== "win32",
        windowsHide: true,
        windowsVerbatimArguments: options.windowsVerbatimArguments ?? false,
      });
      // Without file descriptors, Node reports the error later and creates no pipes.
      if (this.child.stdio === undefined) {
        this.child.on("error", () => {});
        throw Object.assign(new Error("too many files are open"), { code: "EMFILE" });
      }
    } catch (error) {
      manifest?.remove();
      throw error;
    }
    const { pid } = this.child;
    const leader = pid === undefined ? undefined : (processTable().one(pid) ?? withUnknownStart(pid));
    if (leader) manifest?.record(leader);
    this.#claim = { mark, leader, isPidReserved: true, forks: manifest?.forks };
    this.#stderr = new StderrTail(this.child.stderr, this.#limits, options.onStderr);
    // A child that exits during a write breaks the pipe. Its exit is reported anyway.
    this.child.stdin.on("error", () => {});
    endAtExit(this);

    const { promise, resolve } = Promise.withResolvers<ProcessEnd>();
    this.ended = promise;
    this.child.on("error", (error) => {
      // Also emitted if a signal could not be sent, while the process is still running.
      if (this.child.pid !== undefined) return;
      this.#startError = error;
      this.#forget();
      resolve({ code: null, signal: null });
    });
    // Not "close", which waits for all holders of the pipes, including surviving descendants.
    this.child.once("exit", () => {
      this.#cleared = this.#clear();
      void this.#cutSilentOutput();
    });
    this.child.once("close", (code, signal) => resolve({ code, signal }));
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** Why the process could not be started. */
  get startError(): Error | undefined {
    return this.#startError;
  }

  /** The last characters of stderr. */
  get stderrTail(): string {
    return this.#stderr.text;
  }

  /** Describes how the process ended, including the end of its stderr. */
  describeEnd({ code, signal }: ProcessEnd): string {
    if (this.#startError) return `${this.#command} could not be started: ${this.#startError.message}`;
    return `${this.#command} ${describeProcessEnd({ code, signal }, this.#stderr.plainText)}`;
  }

  /** Sends a signal to the process and its group. */
  kill(signal: NodeJS.Signals): void {
    // After the exit, its pid may be reused.
    if (this.#claim.leader !== undefined && !this.#hasExited) killGroup(this.#claim.leader.pid, signal);
  }

  /**
   * Ends the process and its descendants and waits for them. Closes stdin, then sends SIGTERM, then SIGKILL. `from` skips the
   * first steps, for a process that is known to ignore them.
   */
  async stop(from: StopStep = "stdin"): Promise<void> {
    this.child.stdin.end();
    // Unread output would delay "close".
    this.child.stdout.resume();
    // Runs after stdin has been ended, which takes until the next tick.
    setImmediate(() => this.#inspectOthers());
    const steps = [
      ["stdin", this.#limits.exitTimeoutMs],
      ["SIGTERM", this.#limits.terminateTimeoutMs],
      ["SIGKILL", this.#limits.killTimeoutMs],
    ] as const;
    for (const [step, limitMs] of steps.slice(steps.findIndex(([name]) => name === from))) {
      if (step !== "stdin") this.kill(step);
      if (await this.endedWithin(limitMs)) break;
    }
    await this.#cleared;
  }

  /** Inspects the other processes of the machine while this one ends, so that the search after its exit is short. */
  #inspectOthers(): void {
    if (this.#hasExited || this.#claim.forks === undefined) return;
    listOwned(this.#claim, processTable(), { unrelated: this.#unrelated });
  }

  /** Waits for the end of the process. Undefined if it is still running after the limit. */
  endedWithin(limitMs: number): Promise<ProcessEnd | undefined> {
    return waitForEnd(this.ended, limitMs);
  }

  /** Kills the process and its descendants synchronously, for a program that is exiting. */
  endNow(): void {
    this.kill("SIGKILL");
    killOwned(this.#claim, processTable(), this.#unrelated);
    this.#forget();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /**
   * Kills surviving descendants until none is found, then removes the manifest. Searches twice unless the first search is
   * certain: during `exec` a process has no readable environment and therefore no mark, and SIGKILL is not immediate.
   */
  async #clear(): Promise<void> {
    this.#hasExited = true;
    const until = Date.now() + this.#limits.killTimeoutMs;
    let search = killOwned(this.#claim, processTable(), this.#unrelated);
    // A search takes less time than the interval, and is uncertain if any program forks meanwhile.
    for (let more = QUICK_SEARCHES; more > 0 && search.killed === 0 && !search.isCertain; more--) {
      search = killOwned(this.#claim, processTable(), this.#unrelated);
    }
    if (!search.isCertain) {
      do {
        await delay(RECHECK_MS);
        search = killOwned(this.#claim, processTable(), this.#unrelated);
      } while (search.killed > 0 && Date.now() < until);
    }
    this.#forget();
  }

  #forget(): void {
    this.#hasExited = true;
    this.#manifest?.remove();
    cancelEndAtExit(this);
  }

  /** A surviving descendant can hold the pipes of an exited process open. Silence is treated as their end. */
  async #cutSilentOutput(): Promise<void> {
    const { stdout, stderr } = this.child;
    for (let seen = -1, now = 0; now !== seen || stdout.isPaused(); now = this.#bytesRead()) {
      seen = now;
      if (await this.endedWithin(this.#limits.outputTimeoutMs)) return;
      // If this program was blocked, pending output is read before the next check.
      await delay(0);
    }
    stdout.destroy();
    stderr.destroy();
  }

  #bytesRead(): number {
    const { stdout, stderr } = this.child as unknown as Record<"stdout" | "stderr", { bytesRead: number }>;
    return stdout.bytesRead + stderr.bytesRead;
  }
}

/** Waits for the end of a process. Undefined if it is still running after the limit. */
export function waitForEnd(ended: Promise<ProcessEnd>, limitMs: number): Promise<ProcessEnd | undefined> {
  return withTimeout(ended, limitMs, () => new Error("timeout")).catch(() => undefined);
}

/** Describes how a process ended, with its stderr. */
export function describeProcessEnd({ code, signal }: ProcessEnd, stderr: string): string {
  const how = signal === null ? `exited with code ${code}` : `was killed by ${signal}`;
  return `${how}${stderr === "" ? "" : `; stderr:\n${stderr}`}`;
}
