import { AsyncQueue } from "@codexkit/rpc/async";
import { ExecError } from "../errors.ts";
import type { ClientLimits } from "../limits.ts";
import type { ExecNotices, OutputStream, ReadResult } from "../wire/exec-wire.ts";
import { EventOrder } from "./event-order.ts";
import type { SessionLink } from "./session-link.ts";

/** A piece of a process's output. */
export interface ProcessOutput {
  readonly stream: OutputStream;
  readonly bytes: Buffer;
}

/** How a process ended. */
export interface ExecProcessEnd {
  /** Exit code of the process, or 128 + the signal number if a signal killed it. */
  readonly exitCode: number;
  /** Whether the process seems to have failed because its sandbox denied something. */
  readonly sandboxDenied: boolean;
}

/** The complete output of a process. Output of a PTY is in `stdout`. */
export interface CollectedOutput extends ExecProcessEnd {
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

type ProcessEvent =
  | { readonly kind: "output"; readonly seq: number; readonly bytes: number; readonly output: ProcessOutput }
  | { readonly kind: "exited"; readonly seq: number; readonly bytes: 0; readonly end: ExecProcessEnd }
  | { readonly kind: "closed"; readonly seq: number; readonly bytes: 0 };

/**
 * A process on the server. Can be iterated once, for its output in order; `wait` resolves when it has ended.
 *
 * @example
 * const process = await client.start({ argv: ["ls", "-l"], cwd: "/tmp" });
 * for await (const { stream, bytes } of process) console.log(stream, String(bytes));
 * const { exitCode } = await process.wait();
 */
export interface RemoteProcess extends AsyncIterable<ProcessOutput>, AsyncDisposable {
  readonly id: string;
  /** Stdin of the process. It can't be closed, so a program that reads until EOF does not end by itself. */
  readonly stdin: { write(data: string | Uint8Array): Promise<void> };
  /** Resolves when the process has exited and all its output has been received. */
  wait(): Promise<ExecProcessEnd>;
  /** Kills the process and its descendants. Resolves to false if it had already ended. */
  kill(): Promise<boolean>;
  /** Sends an interrupt, as Ctrl-C does. */
  interrupt(): Promise<void>;
  /** Collects all output until the process ends. */
  collect(): Promise<CollectedOutput>;
}

/** A remote process that receives its events from the client's connection. */
export class TrackedProcess implements RemoteProcess {
  readonly id: string;
  readonly #link: SessionLink;
  readonly #order: EventOrder<ProcessEvent>;
  readonly #queue: AsyncQueue<ProcessOutput>;
  readonly #closed = Promise.withResolvers<ExecProcessEnd>();
  readonly #listener: ((output: ProcessOutput) => void) | undefined;
  #end: ExecProcessEnd | undefined;
  #hasEnded = false;
  #writes = 0;

  constructor(
    id: string,
    link: SessionLink,
    limits: ClientLimits,
    onOutput: ((output: ProcessOutput) => void) | undefined,
  ) {
    this.id = id;
    this.#link = link;
    this.#listener = onOutput;
    this.#order = new EventOrder(limits);
    const { unreadOutputBytes } = limits;
    // A slow reader must neither fill the memory nor delay the other processes of the connection.
    this.#queue = new AsyncQueue<ProcessOutput>({
      maxSize: unreadOutputBytes,
      sizeOf: ({ bytes }) => bytes.length,
      onDropped: () => {
        throw new ExecError(
          "output_lost",
          `More than ${unreadOutputBytes} bytes of output were not read (unreadOutputBytes).`,
        );
      },
    });
    // Prevents an unhandled rejection if no caller waits for the end.
    this.#closed.promise.catch(() => {});
  }

  readonly stdin = {
    write: async (data: string | Uint8Array): Promise<void> => {
      this.#writes += 1;
      const chunk = Buffer.from(data as Uint8Array).toString("base64");
      const params = { processId: this.id, chunk, writeId: String(this.#writes) };
      const { status } = await this.#link.request("process/write", params);
      if (status !== "accepted")
        throw new ExecError("stdin_closed", `Process "${this.id}" does not accept input (${status}).`);
    },
  };

  wait(): Promise<ExecProcessEnd> {
    return this.#closed.promise;
  }

  async kill(): Promise<boolean> {
    const { running } = await this.#link.request("process/terminate", { processId: this.id });
    return running;
  }

  async interrupt(): Promise<void> {
    await this.#link.request("process/signal", { processId: this.id, signal: "interrupt" });
  }

  async collect(): Promise<CollectedOutput> {
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    for await (const { stream, bytes } of this) (stream === "stderr" ? stderr : stdout).push(bytes);
    return { ...(await this.wait()), stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) };
  }

  [Symbol.asyncIterator](): AsyncIterator<ProcessOutput> {
    return this.#queue[Symbol.asyncIterator]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#hasEnded) await this.kill().catch(() => {});
  }

  get isOver(): boolean {
    return this.#hasEnded;
  }

  get lastSeq(): number {
    return this.#order.last;
  }

  receiveOutput({ seq, stream, chunk }: Omit<ExecNotices["process/output"], "processId">): void {
    const bytes = Buffer.from(chunk, "base64");
    this.#addEvent({ kind: "output", seq, bytes: bytes.length, output: { stream, bytes } });
  }

  receiveExited({ seq, exitCode, sandboxDenied }: ExecNotices["process/exited"]): void {
    this.#addEvent({
      kind: "exited",
      seq,
      bytes: 0,
      end: { exitCode, sandboxDenied: sandboxDenied ?? false },
    });
  }

  receiveClosed({ seq }: { seq: number }): void {
    this.#addEvent({ kind: "closed", seq, bytes: 0 });
  }

  /**
   * Applies what the server reports about the time without a connection. The exit and the close have sequence
   * numbers but are not chunks; their positions follow from the numbers that are left.
   */
  recover({ chunks, nextSeq, exited, exitCode, closed, sandboxDenied }: ReadResult): void {
    const first = chunks[0]?.seq;
    if (first !== undefined && first > this.lastSeq + 1 && !this.#end) {
      const missing = first - this.lastSeq - 1;
      // One missing number may be the exit, if output follows it. More are chunks that the server no longer
      // has.
      if (missing > 1 || !exited) {
        this.fail(
          new ExecError(
            "output_lost",
            `${missing} chunks of process "${this.id}" were lost while the client was disconnected.`,
          ),
        );
        return;
      }
    }
    const end = { exitCode: exitCode ?? -1, sandboxDenied: sandboxDenied ?? false };
    for (const chunk of chunks) {
      if (exited && !this.#end && chunk.seq === this.lastSeq + 2)
        this.#addEvent(exitAt(this.lastSeq + 1, end));
      this.receiveOutput(chunk);
    }
    const last = nextSeq - 1;
    if (exited && !this.#end) this.#addEvent(exitAt(closed ? last - 1 : this.lastSeq + 1, end));
    if (closed) this.receiveClosed({ seq: last });
  }

  fail(error: ExecError): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#queue.end(error);
    this.#closed.reject(error);
  }

  #addEvent(event: ProcessEvent): void {
    if (this.#hasEnded) return;
    try {
      for (const due of this.#order.add(event)) this.#apply(due);
    } catch (error) {
      this.fail(error as ExecError);
    }
  }

  #apply(event: ProcessEvent): void {
    switch (event.kind) {
      case "output":
        if (this.#listener) this.#listener(event.output);
        else this.#queue.push(event.output);
        return;
      case "exited":
        this.#end = event.end;
        return;
      case "closed":
        if (!this.#end)
          throw new ExecError("protocol_violation", `Process "${this.id}" closed before it exited.`);
        this.#hasEnded = true;
        this.#queue.end();
        this.#closed.resolve(this.#end);
    }
  }
}

function exitAt(seq: number, end: ExecProcessEnd): ProcessEvent {
  return { kind: "exited", seq, bytes: 0, end };
}
