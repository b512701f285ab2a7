import { setImmediate } from "node:timers/promises";
import { EXIT, type ExitCode, SilentExit } from "../errors/cli-error.ts";

/** Time for commands to stop what they started. The SDK needs up to 4 s to stop an unresponsive codex. */
const GRACE_MS = 6_000;

/** Error codes of a stream whose reader has exited. */
const READER_GONE: ReadonlySet<string> = new Set(["EPIPE", "ECONNRESET"]);

/**
 * Handles signals, Ctrl-C and broken pipes of this process in one place. `signal` aborts when the program has
 * to end; commands pass it on and dispose of what they own.
 */
class ProcessLifetime {
  readonly #controller = new AbortController();
  readonly #interruptHandlers: (() => void)[] = [];
  readonly #exitHandlers = new Set<() => void>();
  #shutDown: (() => void) | undefined;
  #exitCode: ExitCode | undefined;

  /** Aborts with a `SilentExit` when the program has to end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The exit code if the program has to end because of a signal or a broken pipe. */
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

  /** Resolves after the errors of everything that has been written so far were handled. */
  async settleOutput(): Promise<void> {
    await setImmediate();
  }

  /**
   * Ends the program: aborts `signal`, and exits even if a command does not react. A second call exits
   * immediately.
   */
  end(exitCode: ExitCode): void {
    if (this.#exitCode !== undefined) process.exit(this.#exitCode);
    this.#exitCode = exitCode;
    this.#controller.abort(new SilentExit(exitCode));
    setTimeout(() => process.exit(exitCode), GRACE_MS).unref();
  }

  #handleWriteError(stream: NodeJS.WriteStream, { code = "", message }: NodeJS.ErrnoException): void {
    // The program is already ending, and a second `end` would not wait for its commands.
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

  /**
   * Handles SIGINT, or Ctrl-C as a key in raw mode. Calls the newest handler, or ends the program if there is
   * none.
   */
  interrupt(): void {
    const handler = this.#interruptHandlers.at(-1);
    if (handler && this.#exitCode === undefined) handler();
    else this.end(EXIT.interrupted);
  }

  /**
   * Registers a handler that replaces the default of ending the program on Ctrl-C. The newest handler is
   * called.
   */
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
   * Registers a handler that replaces the default of ending the program on Ctrl-C, SIGTERM and SIGHUP. For
   * servers, which need longer than the time limit and don't fail because of a signal. Called once per
   * signal.
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

  /** Registers a function that runs synchronously when the process exits, to restore the terminal. */
  onExit(handler: () => void): Disposable {
    this.#exitHandlers.add(handler);
    return { [Symbol.dispose]: () => void this.#exitHandlers.delete(handler) };
  }
}

/** One per process, because signals are per process. */
export const lifetime = new ProcessLifetime();
