import { setImmediate } from "node:timers/promises";
import { EXIT, type ExitCode, SilentExit } from "../errors/cli-error.ts";

/** Time for commands to end what they started. The SDK needs up to 4 s to end a codex that does not react. */
const GRACE_MS = 6_000;

/** Errors of a stream whose reader is gone. */
const READER_GONE: ReadonlySet<string> = new Set(["EPIPE", "ECONNRESET"]);

/**
 * Signals, Ctrl-C and broken pipes of this process, in one place. `signal` is aborted when the program has to end; commands
 * pass it on and dispose of what they own.
 */
class ProcessLifetime {
  readonly #controller = new AbortController();
  readonly #interruptHandlers: (() => void)[] = [];
  readonly #exitHandlers = new Set<() => void>();
  #shutDown: (() => void) | undefined;
  #exitCode: ExitCode | undefined;

  /** Aborted with a `SilentExit` when the program has to end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The exit code of a program that was told to end from outside. */
  get exitCode(): ExitCode | undefined {
    return this.#exitCode;
  }

  start(): void {
    process.on("SIGINT", () => this.interrupt());
    process.on("SIGTERM", () => (this.#shutDown ? this.#shutDown() : this.end(EXIT.terminated)));
    process.on("SIGHUP", () => (this.#shutDown ? this.#shutDown() : this.end(EXIT.hangUp)));
    for (const stream of [process.stdout, process.stderr]) {
      stream.on("error", (error: NodeJS.ErrnoException) => this.#handleWriteError(stream, error));
    }
    process.on("exit", () => {
      for (const handler of this.#exitHandlers) handler();
    });
  }

  /** Resolves after the errors of everything that was written so far were handled. */
  async settleOutput(): Promise<void> {
    await setImmediate();
  }

  /** Ends the program: aborts `signal`, and exits even if a command does not react. A second call exits at once. */
  end(exitCode: ExitCode): void {
    if (this.#exitCode !== undefined) process.exit(this.#exitCode);
    this.#exitCode = exitCode;
    this.#controller.abort(new SilentExit(exitCode));
    setTimeout(() => process.exit(exitCode), GRACE_MS).unref();
  }

  #handleWriteError(stream: NodeJS.WriteStream, { code = "", message }: NodeJS.ErrnoException): void {
    // The program is ending already, and a second `end` would not wait for its commands.
    if (this.#exitCode !== undefined) return;
    if (READER_GONE.has(code)) this.end(EXIT.brokenPipe);
    else if (stream.isTTY) this.end(EXIT.hangUp);
    else {
      if (stream === process.stdout) {
        process.stderr.write(`error: The output can't be written (${code || message}).\n`);
      }
      this.end(EXIT.failed);
    }
  }

  /** SIGINT, or Ctrl-C as a key in raw mode. Calls the newest handler; without one, ends the program. */
  interrupt(): void {
    const handler = this.#interruptHandlers.at(-1);
    if (handler && this.#exitCode === undefined) handler();
    else this.end(EXIT.interrupted);
  }

  /** Handles Ctrl-C instead of ending the program. The newest handler wins. */
  onInterrupt(handler: () => void): Disposable {
    this.#interruptHandlers.push(handler);
    return {
      [Symbol.dispose]: () => {
        const index = this.#interruptHandlers.lastIndexOf(handler);
        if (index !== -1) this.#interruptHandlers.splice(index, 1);
      },
    };
  }

  /**
   * Handles Ctrl-C, SIGTERM and SIGHUP instead of ending the program, for a server: it needs longer than the time limit, and its
   * end is not a failure. Called once per signal.
   */
  onShutDown(handler: () => void): Disposable {
    this.#shutDown = handler;
    const onInterrupt = this.onInterrupt(handler);
    return {
      [Symbol.dispose]: () => {
        this.#shutDown = undefined;
        onInterrupt[Symbol.dispose]();
      },
    };
  }

  /** Runs synchronously when the process exits, to restore the terminal. */
  onExit(handler: () => void): Disposable {
    this.#exitHandlers.add(handler);
    return { [Symbol.dispose]: () => void this.#exitHandlers.delete(handler) };
  }
}

/** One per process, as signals are. */
export const lifetime = new ProcessLifetime();
