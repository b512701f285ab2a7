import { type ChildProcessByStdio, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { ProcessIdentity } from "./signal-process.ts";
import type { WatchdogMessage } from "./watchdog-message.ts";
import type { WatchdogLimits } from "./watchdog.ts";

const PROGRAM = join(import.meta.dirname, `watchdog-program${import.meta.filename.slice(-3)}`);

const RESTART_MS = 200;

export interface WatchdogOptions {
  readonly nodeId: string;
  readonly bootFile: string;
  readonly limits: WatchdogLimits;
  readonly renewedAt: number;
  readonly onWarning: (message: string) => void;
}

/** The watchdog of a daemon. It is replaced if it dies or hangs. */
export class WatchdogProcess {
  readonly #options: WatchdogOptions;
  readonly #processes: () => Iterable<ProcessIdentity>;
  #renewedAt: number;
  #child: ChildProcessByStdio<Writable, Readable, null> | undefined;
  /** When the unanswered lines were written. */
  #unanswered: number[] = [];
  #isEnded = false;

  /** @param processes Returns the processes to watch. Called for each start of a watchdog. */
  constructor(options: WatchdogOptions, processes: () => Iterable<ProcessIdentity>) {
    this.#options = options;
    this.#processes = processes;
    this.#renewedAt = options.renewedAt;
    this.#spawn();
  }

  add(process: ProcessIdentity): void {
    this.#write({ type: "add", process });
  }

  /** Call while the daemon holds its lease, after it has given up the sessions that other nodes have claimed. */
  renewed(sentAt: number): void {
    this.#renewedAt = sentAt;
    const [oldest = Number.POSITIVE_INFINITY] = this.#unanswered;
    if (performance.now() - oldest > this.#options.limits.freezeMs / 2) {
      this.#options.onWarning("The watchdog does not respond, and is being replaced");
      // A stopped process ignores every other signal until it continues.
      this.#child?.kill("SIGKILL");
    }
    this.#write({ type: "renewed", sentAt });
  }

  fenced(): void {
    this.#write({ type: "fenced" });
  }

  /** Call after the app-servers have ended. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#write({ type: "end" });
    this.#child?.stdin.end();
  }

  #spawn(): void {
    const { nodeId, bootFile, limits, onWarning } = this.#options;
    this.#unanswered = [];
    // Detached, so that it survives signals to the daemon's process group. The argument only identifies the watchdog in process
    // lists.
    const child = spawn(process.execPath, [PROGRAM, nodeId], {
      detached: true,
      stdio: ["pipe", "pipe", "inherit"],
      cwd: tmpdir(),
    });
    this.#child = child;
    child.on("error", (error) => onWarning(`The watchdog could not be started: ${error.message}`));
    child.stdin.on("error", () => {});
    child.stdout.on("data", (data: Buffer) => this.#unanswered.splice(0, data.length));
    child.once("exit", () => {
      if (this.#isEnded || this.#child !== child) return;
      onWarning("The watchdog has exited, and is being restarted");
      setTimeout(() => this.#isEnded || this.#spawn(), RESTART_MS).unref();
    });
    child.unref();
    for (const stream of [child.stdin, child.stdout] as { unref?: () => void }[]) stream.unref?.();
    this.#write({ type: "start", nodeId, bootFile, limits, renewedAt: this.#renewedAt });
    for (const process of this.#processes()) this.#write({ type: "add", process });
  }

  #write(message: WatchdogMessage): void {
    this.#unanswered.push(performance.now());
    this.#child?.stdin.write(`${JSON.stringify(message)}\n`);
  }
}
