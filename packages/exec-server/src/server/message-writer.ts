import type { ServerLimits } from "../limits.ts";
import { releaseMemory } from "../wire/release-memory.ts";
import type { MessageSink } from "./message-sink.ts";

/** A message with a large base64 value in its middle, which is encoded piece by piece as the transport accepts it. */
interface LargeMessage {
  readonly before: string;
  readonly bytes: Buffer;
  readonly after: string;
  at: number;
}

/**
 * Batches of this size are sent immediately instead of at the end of the event-loop turn. Each system call
 * wakes the client. Even short messages are not held back for long, so that the client handles the first
 * responses while the server works on the next ones.
 */
const BATCH_BYTES = 64 * 1024;
const BATCH_MESSAGES = 16;

/** Messages up to this size are encoded and sent in one piece: the largest chunk of output. */
const WHOLE_BYTES = 64 * 1024;

/** A multiple of three, so that only the last piece is padded; and small enough that its text is short-lived garbage. */
const PIECE_BYTES = 48 * 1024;

/** Number of bytes that are encoded ahead of the transport, so that it never runs dry. */
const AHEAD_BYTES = 256 * 1024;

/** Enough for a chunk in base64 and the rest of its message. */
const MESSAGE_BYTES = 2 * WHOLE_BYTES;

/** Buffers of sent messages, shared by all connections. About as many as one connection may have waiting. */
const spare: Buffer[] = [];
const SPARE_MESSAGES = 16;

/**
 * Sends messages. Those of one event-loop turn are sent in one system call. Large ones are encoded while they
 * are sent, so that they need no second and third copy in memory.
 */
export class MessageWriter {
  readonly #sink: MessageSink;
  readonly #limits: ServerLimits;
  readonly #onRelief: () => void;
  readonly #onSent = (): void => this.#sent();
  readonly #queue: (string | LargeMessage)[] = [];
  #queuedBytes = 0;
  #corkedBytes = 0;
  #corkedMessages = 0;
  #isCorked = false;
  #isSendingLarge = false;
  #wasFull = false;

  constructor(sink: MessageSink, onRelief: () => void, limits: ServerLimits) {
    this.#sink = sink;
    this.#onRelief = onRelief;
    this.#limits = limits;
  }

  /** Bytes that the client has not received yet. */
  get waitingBytes(): number {
    return this.#sink.bufferedBytes + this.#queuedBytes;
  }

  /** Whether producers that can wait should do so. `onRelief` is called when they may continue. */
  get isFull(): boolean {
    if (this.waitingBytes <= this.#limits.outgoingHighBytes) return false;
    this.#wasFull = true;
    return true;
  }

  send(text: string): void {
    if (this.#isSendingLarge) this.#enqueue(text, text.length);
    else this.#write(text);
  }

  /**
   * Sends two pieces of text with base64 between them. The caller may immediately reuse `bytes` of at most
   * one chunk, because they are encoded here. Larger ones are owned by the writer, and their memory is
   * released when they have been sent.
   */
  sendBase64(before: string, bytes: Buffer, after: string): void {
    if (bytes.length <= WHOLE_BYTES) {
      // Names chosen by a client may be long. A character has at most three bytes, which take four base64
      // digits.
      const length = (before.length + after.length) * 3 + Math.ceil(bytes.length / 3) * 4;
      const isUsual = length <= Math.min(MESSAGE_BYTES, this.#limits.frameBytes);
      if (isUsual && !this.#isSendingLarge) this.#writeChunk(before, bytes, after);
      else this.send(`${before}${bytes.toString("base64")}${after}`);
      return;
    }
    this.#enqueue({ before, bytes, after, at: 0 }, bytes.length);
    if (!this.#isSendingLarge) this.#sendQueued();
  }

  /** Sends what was written in this event-loop turn immediately. */
  flush(): void {
    if (!this.#isCorked) return;
    this.#isCorked = false;
    this.#corkedBytes = 0;
    this.#corkedMessages = 0;
    this.#sink.uncork();
  }

  #writeChunk(before: string, bytes: Buffer, after: string): void {
    this.#cork();
    this.#countCorked(this.#writeEncoded(before, bytes, after, true));
  }

  /**
   * Writes base64 into memory that is reused for later messages, because there are thousands of them per
   * second. Returns the length of what was written, which must fit.
   */
  #writeEncoded(before: string, bytes: Buffer, after: string, isLast: boolean): number {
    const memory = spare.pop() ?? Buffer.allocUnsafeSlow(MESSAGE_BYTES);
    let length = memory.write(before);
    length += memory.write(bytes.toString("base64"), length, "latin1");
    length += memory.write(after, length);
    this.#sink.write(memory.subarray(0, length), isLast, () => {
      if (spare.length < SPARE_MESSAGES) spare.push(memory);
      this.#sent();
    });
    return length;
  }

  #write(text: string): void {
    this.#cork();
    const { frameBytes } = this.#limits;
    // A character has at most three bytes.
    if (text.length * 3 <= frameBytes) this.#sink.write(text, true, this.#onSent);
    else {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += frameBytes)
        this.#sink.write(bytes.subarray(at, at + frameBytes), at + frameBytes >= bytes.length, this.#onSent);
    }
    this.#countCorked(text.length);
  }

  #countCorked(bytes: number): void {
    this.#corkedBytes += bytes;
    this.#corkedMessages += 1;
    if (this.#corkedBytes >= BATCH_BYTES || this.#corkedMessages >= BATCH_MESSAGES) this.flush();
  }

  #cork(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    this.#sink.cork();
    setImmediate(() => this.flush());
  }

  #enqueue(item: string | LargeMessage, bytes: number): void {
    this.#queue.push(item);
    this.#queuedBytes += bytes;
  }

  #sent(): void {
    if (this.#isSendingLarge) this.#sendPieces();
    if (!this.#wasFull || this.waitingBytes > this.#limits.outgoingLowBytes) return;
    this.#wasFull = false;
    this.#onRelief();
  }

  #sendQueued(): void {
    while (!this.#isSendingLarge) {
      const item = this.#queue.shift();
      if (item === undefined) return;
      if (typeof item === "string") {
        this.#queuedBytes -= item.length;
        this.#write(item);
      } else {
        this.#isSendingLarge = true;
        this.#queue.unshift(item);
        this.flush();
        this.#sendPieces();
      }
    }
  }

  /** Sends pieces of the first queued message until enough are on their way or all have been sent. */
  #sendPieces(): void {
    const item = this.#queue[0];
    if (item === undefined || typeof item === "string") return;
    while (item.at < item.bytes.length) {
      if (this.#sink.bufferedBytes >= AHEAD_BYTES) return;
      const from = item.at;
      item.at = Math.min(from + PIECE_BYTES, item.bytes.length);
      this.#queuedBytes -= item.at - from;
      const isLast = item.at === item.bytes.length;
      // Separate from the bytes, because it contains the id that the client chose, which may be long.
      if (from === 0) this.#sink.write(item.before, false, this.#onSent);
      this.#writeEncoded("", item.bytes.subarray(from, item.at), isLast ? item.after : "", isLast);
    }
    this.#queue.shift();
    releaseMemory(item.bytes);
    this.#isSendingLarge = false;
    this.#sendQueued();
  }
}
