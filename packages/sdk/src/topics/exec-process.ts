import type { v2 } from "@codexkit/protocol";
import { type CallOptions, RemoteError } from "@codexkit/rpc";
import { DisposableStack } from "@codexkit/rpc/async";
import { CodexError } from "../errors.ts";
import type { ExecBackend, StdinWrite } from "./exec-backend.ts";
import type { ExecExit } from "./exec-options.ts";
import { type ExecOutput, ExecOutputQueue } from "./exec-output.ts";

/**
 * A running command. Iterate it to read its output; unread output is buffered up to a limit. The command ends with the
 * connection.
 *
 * @example
 * await using shell = await codex.exec.start(["bash"], { tty: true, size: { rows: 24, cols: 80 } });
 * await shell.write("ls\n");
 * for await (const { bytes } of shell) process.stdout.write(bytes);
 */
export class ExecProcess implements AsyncIterable<ExecOutput>, AsyncDisposable {
  /** Resolves when the command ends. Rejects if it could not be started or if the server is lost. */
  readonly exited: Promise<ExecExit>;
  readonly #backend: ExecBackend;
  readonly #output = new ExecOutputQueue();
  readonly #capReached = { stdout: false, stderr: false };
  #hasEnded = false;

  private constructor(backend: ExecBackend, exited: Promise<ExecExit>) {
    this.#backend = backend;
    this.exited = exited;
  }

  /** Starts the backend's command. The signal kills it. */
  static async start(backend: ExecBackend, signal: AbortSignal | undefined): Promise<ExecProcess> {
    const { promise, resolve, reject } = Promise.withResolvers<ExecExit>();
    // A caller that only iterates the output gets the error there. Without this, it would also be an unhandled rejection.
    promise.catch(() => {});
    const process = new ExecProcess(backend, promise);
    using stack = new DisposableStack();
    stack.use(backend.listen((piece) => process.#addOutput(piece)));
    const { exited } = await backend.start();
    const listening = stack.move();
    const onAbort = (): void => void process.terminate().catch(() => {});
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    listening.defer(() => signal?.removeEventListener("abort", onAbort));
    void exited
      .then(
        (exit) => {
          process.#end();
          const { stdout, stderr } = process.#capReached;
          resolve({ ...exit, stdoutCapReached: stdout, stderrCapReached: stderr });
        },
        (error: Error) => {
          process.#end(error);
          reject(error);
        },
      )
      .finally(() => listening.dispose());
    return process;
  }

  /** The command's id on the server. */
  get id(): string {
    return this.#backend.id;
  }

  /** Writes to stdin. Resolves when the server has accepted the data. */
  async write(data: string | Uint8Array, options: CallOptions = {}): Promise<void> {
    await this.#writeStdin({ deltaBase64: Buffer.from(data as Uint8Array).toString("base64") }, options);
  }

  /** Closes stdin. */
  async closeStdin(options: CallOptions = {}): Promise<void> {
    await this.#writeStdin({ closeStdin: true }, options);
  }

  /** Resizes the terminal. */
  async resize(size: v2.CommandExecTerminalSize, options: CallOptions = {}): Promise<void> {
    await this.#backend.resize(size, options);
  }

  /** Kills the command if it is still running. `exited` settles when it has ended. */
  async terminate(options: CallOptions = {}): Promise<void> {
    if (this.#hasEnded) return;
    try {
      await this.#backend.terminate(options);
    } catch (error) {
      // "No such process": the command has just ended, and its exit notification follows.
      if (this.#hasEnded || isRefusal(error)) return;
      throw error;
    }
  }

  [Symbol.asyncIterator](): AsyncGenerator<ExecOutput, void, undefined> {
    return this.#output[Symbol.asyncIterator]();
  }

  /** Kills the command and waits until it has ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.terminate().catch(() => {});
    await this.exited.catch(() => {});
  }

  async #writeStdin(write: StdinWrite, options: CallOptions): Promise<void> {
    if (this.#hasEnded)
      throw new CodexError("invalid_argument", "Can't write to stdin: the command has ended.");
    await this.#backend.write(write, options);
  }

  #addOutput(piece: ExecOutput): void {
    if (piece.capReached) this.#capReached[piece.stream] = true;
    this.#output.push(piece);
  }

  #end(error?: Error): void {
    this.#hasEnded = true;
    this.#output.end(error);
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof CodexError && error.cause instanceof RemoteError;
}
