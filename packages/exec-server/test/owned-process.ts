import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";

export interface OwnedProcessOptions {
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** How much of stderr is kept for error messages. */
const STDERR_TAIL_CHARACTERS = 4_000;

/** How long a process gets at each step: to leave by itself, then after SIGTERM. */
const STOP_STEP_MS = 2_000;

/** A child in a process group of its own that does not outlive its owner: `stop` ends the whole group. */
export class OwnedProcess implements AsyncDisposable {
  readonly child: ChildProcessWithoutNullStreams;
  /** Settles when the process is gone and its output is read to the end. */
  readonly ended: Promise<ProcessEnd>;
  readonly #command: string;
  #stderr = "";

  constructor({ command, args = [], cwd, env }: OwnedProcessOptions) {
    this.#command = command;
    this.child = spawn(command, args, { cwd, env: env as NodeJS.ProcessEnv, stdio: "pipe", detached: true });
    this.child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_TAIL_CHARACTERS);
    });
    this.ended = new Promise((resolve) => {
      this.child.once("error", (error) => {
        this.#stderr += error.message;
        resolve({ code: null, signal: null });
      });
      this.child.once("close", (code, signal) => resolve({ code, signal }));
    });
  }

  get stderrTail(): string {
    return this.#stderr;
  }

  /** How the process ended, in words, with the end of its stderr. */
  describeEnd({ code, signal }: ProcessEnd): string {
    const how = signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
    const tail = stripVTControlCharacters(this.#stderr).trim();
    return `${this.#command} ${how}${tail === "" ? "" : `; its last words:\n${tail}`}`;
  }

  /** Sends a signal to the process and all its descendants in the group. */
  kill(signal: NodeJS.Signals): void {
    const { pid } = this.child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }

  /**
   * Ends the process and its group; both are gone when this returns. Closes stdin and waits, then sends SIGTERM, then
   * SIGKILL. `from` leaves out the first steps, for a process that is known not to heed them.
   */
  async stop(from: "stdin" | "SIGTERM" | "SIGKILL" = "stdin"): Promise<void> {
    this.child.stdin.on("error", () => {});
    this.child.stdin.end();
    // Unread output would hold up "close".
    this.child.stdout.resume();
    const steps = ["stdin", "SIGTERM", "SIGKILL"] as const;
    for (const step of steps.slice(steps.indexOf(from))) {
      if (step !== "stdin") this.kill(step);
      if (await this.endedWithin(STOP_STEP_MS)) break;
    }
    // Descendants that outlived their leader.
    this.kill("SIGKILL");
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

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
