import { AsyncQueue } from "@codexkit/rpc/async";

/** A chunk of a process's output, in the order in which it was received. */
export interface ExecOutput {
  readonly stream: "stdout" | "stderr";
  readonly bytes: Uint8Array;
  /** Whether this is the last chunk of its stream because `outputBytesCap` was reached. */
  readonly capReached: boolean;
  /** Number of bytes dropped before this chunk because the reader fell too far behind. */
  readonly omittedBytes?: number;
}

/** Limit of unread bytes per process. Beyond it the oldest chunks are dropped; the next chunk reports how many bytes. */
const UNREAD_BYTES_LIMIT = 64 * 1024 * 1024;

/** Unread chunks are joined up to this size: a terminal sends a few bytes at a time. */
const JOIN_BYTES = 64 * 1024;

interface QueuedOutput {
  readonly output: ExecOutput;
  /** Total bytes received up to the end of this chunk. The reader computes gaps from it. */
  readonly endOffset: number;
}

/** Unread output of one process. */
export class ExecOutputQueue implements AsyncIterable<ExecOutput> {
  readonly #queue: AsyncQueue<QueuedOutput>;
  #receivedBytes = 0;
  #readOffset = 0;

  constructor(maxUnreadBytes = UNREAD_BYTES_LIMIT) {
    this.#queue = new AsyncQueue({
      maxSize: maxUnreadBytes,
      sizeOf: ({ output }) => output.bytes.length,
      merge: joinChunks,
    });
  }

  push(output: ExecOutput): void {
    this.#receivedBytes += output.bytes.length;
    this.#queue.push({ output, endOffset: this.#receivedBytes });
  }

  end(error?: Error): void {
    this.#queue.end(error);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ExecOutput, void, undefined> {
    for await (const { output, endOffset } of this.#queue) {
      const omittedBytes = endOffset - output.bytes.length - this.#readOffset;
      this.#readOffset = endOffset;
      yield omittedBytes === 0 ? output : { ...output, omittedBytes };
    }
  }
}

function joinChunks(unread: QueuedOutput, next: QueuedOutput): QueuedOutput | undefined {
  const { stream, bytes } = unread.output;
  if (stream !== next.output.stream || bytes.length + next.output.bytes.length > JOIN_BYTES) return undefined;
  const { capReached } = next.output;
  return {
    output: { stream, bytes: Buffer.concat([bytes, next.output.bytes]), capReached },
    endOffset: next.endOffset,
  };
}
