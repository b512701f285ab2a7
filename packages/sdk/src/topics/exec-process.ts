import type { v2 } from "@codexkit/protocol";
import { type CallOptions, RemoteError } from "@codexkit/rpc";
import { DisposableStack } from "@codexkit/rpc/async";
import { CodexError } from "../errors.ts";
import type { ExecBackend, StdinWrite } from "./exec-backend.ts";
import type { ExecExit } from "./exec-options.ts";
import { type ExecOutput, ExecOutputQueue } from "./exec-output.ts";

/**
 * A command that runs. Iterate it for its output: what nobody reads waits, up to a limit. It dies with its connection.
 *
 * @example
 * await using shell = await codex.exec.start(["bash"], { tty: true, size: { rows: 24, cols: 80 } });
 * await shell.write("ls\n");
 * for await (const { bytes } of shell) process.stdout.write(bytes);
 */
export class ExecProcess implements AsyncIterable<ExecOutput>, AsyncDisposable {
  /** How it ended. Rejects when it could not be started, or when the server is gone. */
  readonly exited: Promise<ExecExit>;
  readonly #backend: ExecBackend;
  readonly #output = new ExecOutputQueue();
  readonly #capReached = { stdout: false, stderr: false };
  #ended = false;

  private constructor(backend: ExecBackend, exited: Promise<ExecExit>) {
    this.#backend = backend;
    this.exited = exited;
  }

  /** Starts what the backend describes; its signal ends it. */
  static async start(backend: ExecBackend, signal: AbortSignal | undefined): Promise<ExecProcess> {
    const { promise, resolve, reject } = Promise.withResolvers<ExecExit>();
    // Whoever only reads the output is told by its end; that must not end the program.
    promise.catch(() => {});
    const process = new ExecProcess(backend, promise);
    using stack = new DisposableStack();
    stack.use(backend.listen((piece) => process.#hear(piece)));
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

  /** What names it to the server. */
  get id(): string {
    return this.#backend.id;
  }

  /** Writes to its stdin. Resolves when the server took it. */
  async write(data: string | Uint8Array, options: CallOptions = {}): Promise<void> {
    await this.#writeStdin({ deltaBase64: Buffer.from(data as Uint8Array).toString("base64") }, options);
  }

  /** Ends its stdin. */
  async closeStdin(options: CallOptions = {}): Promise<void> {
    await this.#writeStdin({ closeStdin: true }, options);
  }

  /** Changes the size of its terminal. */
  async resize(size: v2.CommandExecTerminalSize, options: CallOptions = {}): Promise<void> {
    await this.#backend.resize(size, options);
  }

  /** Kills it, if it still runs; `exited` says when it is gone. */
  async terminate(options: CallOptions = {}): Promise<void> {
    if (this.#ended) return;
    try {
      await this.#backend.terminate(options);
    } catch (error) {
      // "No such process": it ended meanwhile, and its end is on the way.
      if (this.#ended || isRefusal(error)) return;
      throw error;
    }
  }

  [Symbol.asyncIterator](): AsyncGenerator<ExecOutput, void, undefined> {
    return this.#output[Symbol.asyncIterator]();
  }

  /** Kills it and waits until it is gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.terminate().catch(() => {});
    await this.exited.catch(() => {});
  }

  async #writeStdin(write: StdinWrite, options: CallOptions): Promise<void> {
    if (this.#ended)
      throw new CodexError("invalid_argument", "The command has ended: nobody reads its stdin.");
    await this.#backend.write(write, options);
  }

  #hear(piece: ExecOutput): void {
    if (piece.capReached) this.#capReached[piece.stream] = true;
    this.#output.push(piece);
  }

  #end(error?: Error): void {
    this.#ended = true;
    this.#output.end(error);
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof CodexError && error.cause instanceof RemoteError;
}
