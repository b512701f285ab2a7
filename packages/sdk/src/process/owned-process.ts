import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { killOwned } from "./end-owned.ts";
import { endAtExit, forgetAtExit } from "./exit-hook.ts";
import type { Claim } from "./find-owned.ts";
import { killGroup } from "./kill-group.ts";
import { PROCESS_LIMITS, type ProcessLimits } from "./limits.ts";
import { markValue, newMark, OWNER_VARIABLE } from "./owner-mark.ts";
import { type ManifestFile, unknownStart } from "./owner-manifest.ts";
import { processTable } from "./process-table.ts";
import { StderrTail } from "./stderr-tail.ts";

export interface OwnedProcessOptions {
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string | undefined;
  /** The whole environment; this process's own unless told. The owner's mark is added. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The arguments are quoted already, for `cmd.exe`. */
  readonly windowsVerbatimArguments?: boolean;
  /** Hears every line of stderr. */
  readonly onStderr?: ((line: string) => void) | undefined;
  readonly limits?: Partial<ProcessLimits> | undefined;
  /** The id in the environment of the process and its descendants; a new one unless told. */
  readonly mark?: string;
  /** Kept while the process is there, so that a later start finds it if this program can't end it. */
  readonly manifest?: ManifestFile | undefined;
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** How soon it is looked again whether those that a process left behind are gone. */
const LOOK_AGAIN_MS = 10;

/** The steps of `stop`, from the gentlest. */
export type StopStep = "stdin" | "SIGTERM" | "SIGKILL";

/**
 * A child that does not outlive its owner, nor do its descendants. It leads a process group and session of its own and
 * carries a mark; when it ends, however it ends, whatever it left behind is ended too.
 */
export class OwnedProcess implements AsyncDisposable {
  readonly child: ChildProcessWithoutNullStreams;
  /** Settles when the process is gone and its output is read to the end. Never rejects. */
  readonly ended: Promise<ProcessEnd>;
  readonly #command: string;
  readonly #limits: ProcessLimits;
  readonly #stderr: StderrTail;
  readonly #manifest: ManifestFile | undefined;
  readonly #claim: Claim;
  #startError: Error | undefined;
  #gone = false;
  #cleared: Promise<void> | undefined;

  /** Throws what is known at once: an argument that no process can have, no file descriptor left. */
  constructor(options: OwnedProcessOptions) {
    const { command, args = [], cwd, env = process.env, mark = newMark(), manifest } = options;
    this.#command = command;
    this.#limits = { ...PROCESS_LIMITS, ...options.limits };
    this.#manifest = manifest;
    try {
      this.child = spawn(command, args, {
        cwd,
        env: { ...env, [OWNER_VARIABLE]: markValue(mark) },
        stdio: "pipe",
        // A group of its own, to be ended as one. On Windows it would open a window instead.
        detached: process.platform !== "win32",
        windowsHide: true,
        windowsVerbatimArguments: options.windowsVerbatimArguments ?? false,
      });
      // Out of file descriptors: Node reports that later, and makes no pipes that could be listened to.
      if (this.child.stdio === undefined) {
        this.child.on("error", () => {});
        throw Object.assign(new Error("too many files are open"), { code: "EMFILE" });
      }
    } catch (error) {
      manifest?.remove();
      throw error;
    }
    const { pid } = this.child;
    const leader = pid === undefined ? undefined : (processTable().one(pid) ?? unknownStart(pid));
    if (leader) manifest?.record(leader);
    this.#claim = { mark, leader, numberIsOurs: true };
    this.#stderr = new StderrTail(this.child.stderr, this.#limits, options.onStderr);
    // A child that dies breaks the pipe while we write; its end says all there is to say.
    this.child.stdin.on("error", () => {});
    endAtExit(this);

    const { promise, resolve } = Promise.withResolvers<ProcessEnd>();
    this.ended = promise;
    this.child.on("error", (error) => {
      // Also emitted when a signal could not be sent: that is no end.
      if (this.child.pid !== undefined) return;
      this.#startError = error;
      this.#forget();
      resolve({ code: null, signal: null });
    });
    // Before "close", which waits for all who hold the pipes: those who stayed behind are among them.
    this.child.once("exit", () => {
      this.#cleared = this.#clear();
      void this.#cutSilentOutput();
    });
    this.child.once("close", (code, signal) => resolve({ code, signal }));
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  /** Why the process could not be started, if it could not. */
  get startError(): Error | undefined {
    return this.#startError;
  }

  /** The end of its stderr, as it came. */
  get stderrTail(): string {
    return this.#stderr.text;
  }

  /** How the process ended, in words, with the end of its stderr. */
  describeEnd({ code, signal }: ProcessEnd): string {
    if (this.#startError) return `${this.#command} could not be started: ${this.#startError.message}`;
    const how = signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
    const tail = this.#stderr.lastWords;
    return `${this.#command} ${how}${tail === "" ? "" : `; its last words:\n${tail}`}`;
  }

  /** Sends a signal to the process and its group. */
  kill(signal: NodeJS.Signals): void {
    // Once it is gone, its number may be another's.
    if (this.#claim.leader !== undefined && !this.#gone) killGroup(this.#claim.leader.pid, signal);
  }

  /**
   * Ends the process and its descendants; all are gone when this returns. Closes stdin and waits, then sends SIGTERM,
   * then SIGKILL. `from` leaves out the first steps, for a process that is known not to heed them.
   */
  async stop(from: StopStep = "stdin"): Promise<void> {
    this.child.stdin.end();
    // Unread output would hold up "close".
    this.child.stdout.resume();
    const steps = [
      ["stdin", this.#limits.leaveMs],
      ["SIGTERM", this.#limits.terminateMs],
      ["SIGKILL", this.#limits.killMs],
    ] as const;
    for (const [step, limitMs] of steps.slice(steps.findIndex(([name]) => name === from))) {
      if (step !== "stdin") this.kill(step);
      if (await this.endedWithin(limitMs)) break;
    }
    await this.#cleared;
  }

  /** How the process ended, or undefined when it is still there after the limit. */
  async endedWithin(limitMs: number): Promise<ProcessEnd | undefined> {
    const waiting = new AbortController();
    const limit = delay(limitMs, undefined, { signal: waiting.signal }).catch(() => undefined);
    try {
      return await Promise.race([this.ended, limit]);
    } finally {
      waiting.abort();
    }
  }

  /** Ends all at once, without waiting: for a program that is exiting. */
  endNow(): void {
    this.kill("SIGKILL");
    killOwned(this.#claim);
    this.#forget();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /**
   * Ends what the process left behind, until nobody is found, then the traces of it. Looks at least twice: a process
   * that is just becoming another program shows no environment, so no mark, and SIGKILL takes a moment.
   */
  async #clear(): Promise<void> {
    this.#gone = true;
    const until = Date.now() + this.#limits.killMs;
    killOwned(this.#claim);
    do await delay(LOOK_AGAIN_MS);
    while (killOwned(this.#claim).length > 0 && Date.now() < until);
    this.#forget();
  }

  #forget(): void {
    this.#gone = true;
    this.#manifest?.remove();
    forgetAtExit(this);
  }

  /** Someone who got away may hold the pipes of a process that is gone: silence is taken for the end. */
  async #cutSilentOutput(): Promise<void> {
    const { stdout, stderr } = this.child;
    for (let seen = -1, now = 0; now !== seen || stdout.isPaused(); now = this.#bytesRead()) {
      seen = now;
      if (await this.endedWithin(this.#limits.lastOutputMs)) return;
      // A program that was busy all that time reads what waits for it first.
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
