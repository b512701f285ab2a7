import type { Writable } from "node:stream";
import { EXEC_LIMITS, type ExecLimits } from "../limits.ts";
import { releaseMemory } from "../wire/release-memory.ts";

/** How messages are told apart on a byte stream. All text here is bytes, one character each. */
export interface Framing {
  /** What stands before a piece of a message, given its length and whether it begins and ends the message. */
  head(bytes: number, first: boolean, last: boolean): string;
  readonly tail: string;
}

/** A message with a large base64 value in its middle, which is encoded piece by piece as the socket takes it. */
interface LargeMessage {
  readonly before: string;
  readonly bytes: Buffer;
  readonly after: string;
  at: number;
}

/** Written at once instead of at the end of the turn. */
const BATCH_BYTES = 32 * 1024;

/** Encoded and written in one go: a chunk of output. */
const WHOLE_BYTES = 64 * 1024;

/** A multiple of three, so that only the last piece is padded; and small enough that its text dies young. */
const PIECE_BYTES = 48 * 1024;

/**
 * Sends messages. Those of one turn of the event loop leave in one system call; large ones are encoded while they
 * leave, so that they need no second and third copy in memory.
 */
export class MessageWriter {
  readonly #stream: Writable;
  readonly #framing: Framing;
  readonly #limits: ExecLimits;
  readonly #onRelief: () => void;
  #batch = "";
  #flushScheduled = false;
  readonly #queue: (string | LargeMessage)[] = [];
  #queuedBytes = 0;
  #sendingLarge = false;
  #afterLarge = "";
  #wasFull = false;

  constructor(stream: Writable, framing: Framing, onRelief: () => void, limits: ExecLimits = EXEC_LIMITS) {
    this.#stream = stream;
    this.#framing = framing;
    this.#onRelief = onRelief;
    this.#limits = limits;
    stream.on("drain", () => this.#drained());
  }

  /** Bytes that the other side has not taken yet. */
  get waitingBytes(): number {
    return this.#stream.writableLength + this.#batch.length + this.#queuedBytes;
  }

  /** Whether those who can wait should. They are told when it is over. */
  get isFull(): boolean {
    if (this.waitingBytes <= this.#limits.outgoingHighBytes) return false;
    this.#wasFull = true;
    return true;
  }

  send(text: string): void {
    const bytes = asBytes(text);
    if (this.#sendingLarge) this.#enqueue(bytes, bytes.length);
    else this.#write(bytes);
  }

  /**
   * Sends two pieces of text with base64 between them. Bytes up to a chunk may be lent: they are encoded at once. Larger
   * ones are taken over, and their memory is gone when they are sent.
   */
  sendBase64(textBefore: string, bytes: Buffer, textAfter: string): void {
    const before = asBytes(textBefore);
    const after = asBytes(textAfter);
    if (bytes.length <= WHOLE_BYTES && bytes.length >= BATCH_BYTES / 2 && !this.#sendingLarge) {
      this.#writeParts(before, bytes.toString("base64"), after);
      return;
    }
    if (bytes.length <= WHOLE_BYTES) {
      const message = `${before}${bytes.toString("base64")}${after}`;
      if (this.#sendingLarge) this.#enqueue(message, message.length);
      else this.#write(message);
      return;
    }
    this.#enqueue({ before, bytes, after, at: 0 }, bytes.length);
    if (!this.#sendingLarge) this.#next();
  }

  /** Sends a frame that is no message; not between the pieces of a frame that is being sent: then it waits. */
  sendFrame(frame: string): void {
    if (this.#sendingLarge) this.#afterLarge += frame;
    else {
      this.#batch += frame;
      this.flush();
    }
  }

  /** Sends what waits in this turn now. */
  flush(): void {
    if (this.#batch === "") return;
    const batch = this.#batch;
    this.#batch = "";
    if (this.#stream.writable) this.#stream.write(batch, "latin1");
  }

  /** Not joined first: the socket takes the parts in one system call as they are. */
  #writeParts(before: string, base64: string, after: string): void {
    this.flush();
    if (!this.#stream.writable) return;
    const length = before.length + base64.length + after.length;
    this.#stream.cork();
    this.#stream.write(this.#framing.head(length, true, true) + before, "latin1");
    this.#stream.write(base64, "latin1");
    this.#stream.write(after + this.#framing.tail, "latin1");
    this.#stream.uncork();
  }

  #write(message: string): void {
    const { frameBytes } = this.#limits;
    const { length } = message;
    for (let at = 0; at === 0 || at < length; at += frameBytes) {
      const piece = length <= frameBytes ? message : message.slice(at, at + frameBytes);
      const last = at + frameBytes >= length;
      this.#batch +=
        this.#framing.head(piece.length, at === 0, last) + piece + (last ? this.#framing.tail : "");
    }
    if (this.#batch.length >= BATCH_BYTES) this.flush();
    else this.#flushSoon();
  }

  #flushSoon(): void {
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    setImmediate(() => {
      this.#flushScheduled = false;
      this.flush();
    });
  }

  #enqueue(item: string | LargeMessage, bytes: number): void {
    this.#queue.push(item);
    this.#queuedBytes += bytes;
  }

  #drained(): void {
    if (this.#sendingLarge) this.#pumpLarge();
    if (!this.#wasFull || this.waitingBytes > this.#limits.outgoingLowBytes) return;
    this.#wasFull = false;
    this.#onRelief();
  }

  #next(): void {
    this.#sendingLarge = false;
    this.#batch += this.#afterLarge;
    this.#afterLarge = "";
    this.#flushSoon();
    while (!this.#sendingLarge) {
      const item = this.#queue.shift();
      if (item === undefined) return;
      if (typeof item === "string") {
        this.#queuedBytes -= item.length;
        this.#write(item);
      } else {
        this.#sendingLarge = true;
        this.flush();
        this.#queue.unshift(item);
        this.#pumpLarge();
      }
    }
  }

  /** Writes pieces of the first in the queue until the socket is full or the message is out. */
  #pumpLarge(): void {
    const item = this.#queue[0];
    if (item === undefined || typeof item === "string") return;
    while (item.at < item.bytes.length) {
      const from = item.at;
      item.at = Math.min(from + PIECE_BYTES, item.bytes.length);
      this.#queuedBytes -= item.at - from;
      const last = item.at === item.bytes.length;
      const piece = `${from === 0 ? item.before : ""}${item.bytes.toString("base64", from, item.at)}${last ? item.after : ""}`;
      const head = this.#headOf(item, from);
      if (!this.#stream.writable) break;
      const taken = this.#stream.write(head + piece + (last ? this.#framing.tail : ""), "latin1");
      if (!taken && !last) return;
    }
    this.#queue.shift();
    releaseMemory(item.bytes);
    this.#next();
  }

  /** A frame holds many pieces: its header stands before the first of them, with the length of all. */
  #headOf({ before, bytes, after }: LargeMessage, from: number): string {
    const frame = Math.floor(((this.#limits.frameBytes / 4) * 3) / PIECE_BYTES) * PIECE_BYTES;
    if (from % frame !== 0) return "";
    const to = Math.min(from + frame, bytes.length);
    const first = from === 0;
    const last = to === bytes.length;
    const encoded = Math.ceil((to - from) / 3) * 4;
    const length = encoded + (first ? before.length : 0) + (last ? after.length : 0);
    return this.#framing.head(length, first, last);
  }
}

/** Text beyond ASCII, such as a process id may have, becomes its bytes, one character each, as everything written here. */
function asBytes(text: string): string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString("latin1");
}
