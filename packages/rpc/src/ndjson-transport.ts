import type { Readable, Writable } from "node:stream";
import { RpcError, toError } from "./errors.ts";
import { LineSplitter } from "./line-splitter.ts";
import { RPC_LIMITS, type RpcLimits } from "./limits.ts";
import { timerDelay } from "./timer-delay.ts";
import type { Transport, TransportReceiver } from "./transport.ts";

export interface NdjsonTransportOptions {
  /** Stream of incoming lines: a child's stdout, a socket. */
  readonly input: Readable;
  /** Stream for outgoing lines: a child's stdin, the same socket. */
  readonly output: Writable;
  readonly limits?: Partial<RpcLimits>;
}

/** One JSON message per line, over any pair of byte streams. */
export class NdjsonTransport implements Transport {
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #limits: RpcLimits;
  /** Resolves when the last outgoing byte was written or discarded. */
  readonly #flushed = Promise.withResolvers<void>();
  #receiver: TransportReceiver | undefined;
  #batch = "";
  #drained: PromiseWithResolvers<void> | undefined;
  #outputEnd: { cause: Error | undefined; timer: NodeJS.Timeout } | undefined;
  #end: { cause: Error | undefined } | undefined;

  constructor({ input, output, limits }: NdjsonTransportOptions) {
    this.#input = input;
    this.#output = output;
    this.#limits = { ...RPC_LIMITS, ...limits };
    // Attached in the constructor: an EPIPE without a listener would end the whole process.
    output.on("error", (error) => this.#outputEnded(error));
    output.on("finish", () => this.#outputEnded());
    output.on("close", () => this.#outputEnded());
    output.on("drain", () => this.#release());
    input.on("error", (error) => this.#finish(error));
  }

  start(receiver: TransportReceiver): void {
    this.#receiver = receiver;
    const end = this.#end;
    if (end) {
      queueMicrotask(() => receiver.closed(end.cause));
      return;
    }
    const splitter = new LineSplitter(this.#limits.messageBytes, (line) => {
      if (!this.#end) receiver.text(line);
    });
    this.#input.on("data", (chunk: Buffer | string) => {
      if (this.#end) return;
      this.#guard(() => splitter.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk));
    });
    this.#input.on("end", () => {
      this.#guard(() => splitter.end());
      this.#finish();
    });
    this.#input.on("close", () => this.#finish());
    this.#noticeDeadStreams();
  }

  pause(): void {
    if (!this.#end) this.#input.pause();
  }

  resume(): void {
    this.#input.resume();
  }

  send(message: string): Promise<void> | undefined {
    const over = this.#end ?? this.#outputEnd;
    if (over) throw new RpcError("closed", "The connection is closed.", { cause: over.cause });
    const waiting = this.#output.writableLength + this.#batch.length;
    if (waiting > this.#limits.bufferedBytes) {
      throw new RpcError(
        "queue_full",
        `The other side is not reading: ${waiting} bytes are buffered, the limit is ${this.#limits.bufferedBytes} (bufferedBytes).`,
      );
    }
    // Messages of one tick are written together: a burst of small calls costs one system call instead of hundreds.
    if (this.#batch === "") process.nextTick(() => this.#flush());
    this.#batch += `${message}\n`;
    if (!this.#output.writableNeedDrain) return undefined;
    this.#drained ??= Promise.withResolvers();
    return this.#drained.promise;
  }

  close(): Promise<void> {
    this.#finish();
    return this.#flushed.promise;
  }

  /** Streams that ended before `start` emit no further events. */
  #noticeDeadStreams(): void {
    const { errored, closed, readableEnded } = this.#input;
    if (closed || readableEnded) queueMicrotask(() => this.#finish(errored ?? undefined));
    else if (!this.#output.writable) this.#outputEnded(this.#output.errored ?? undefined);
  }

  /** A line above the limit ends the connection, because it may be a response that a call waits for. */
  #guard(read: () => void): void {
    try {
      read();
    } catch (error) {
      this.#finish(toError(error));
    }
  }

  #flush(): void {
    if (this.#batch === "") return;
    const batch = this.#batch;
    this.#batch = "";
    if (this.#output.writable) this.#output.write(batch);
  }

  #release(): void {
    this.#drained?.resolve();
    this.#drained = undefined;
  }

  /**
   * The other side has stopped reading, but its last messages may still arrive: Node closes the stdin of an exiting
   * child while its last responses are still in the stdout pipe.
   */
  #outputEnded(cause?: Error): void {
    this.#flushed.resolve();
    if (this.#end || this.#outputEnd) return;
    const timer = setTimeout(() => this.#finish(), timerDelay(this.#limits.closeTimeoutMs));
    this.#outputEnd = { cause, timer };
    this.#release();
  }

  #finish(cause = this.#outputEnd?.cause): void {
    if (this.#end) return;
    clearTimeout(this.#outputEnd?.timer);
    this.#end = { cause };
    // Keep reading and discard: a peer that can't write its last output would not exit.
    this.#input.resume();
    this.#flush();
    // Pending senders find the connection closed at their next `send`.
    this.#release();
    this.#output.end();
    if (this.#output.destroyed || this.#output.writableFinished) this.#flushed.resolve();
    this.#cutLater();
    this.#receiver?.closed(cause);
  }

  /** The transport owns its streams: a side that neither reads nor ends must not keep them open forever. */
  #cutLater(): void {
    const timer = setTimeout(() => {
      this.#output.destroy();
      this.#input.destroy();
      this.#flushed.resolve();
    }, timerDelay(this.#limits.closeTimeoutMs));
    const stopWhenClosed = (): void => {
      if (this.#input.closed && this.#output.closed) clearTimeout(timer);
    };
    this.#input.once("close", stopWhenClosed);
    this.#output.once("close", stopWhenClosed);
    stopWhenClosed();
  }
}
