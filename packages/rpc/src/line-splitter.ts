import { RpcError } from "./errors.ts";

const LF = 10;
const CR = 13;

/**
 * Splits a stream of bytes into lines. Only new bytes are scanned and each line is joined once, so the cost is
 * proportional to the length of the input. Bytes are decoded only up to a line feed, so no UTF-8 character is split.
 */
export class LineSplitter {
  readonly #limit: number;
  readonly #onLine: (line: string) => void;
  #partial: Buffer[] = [];
  #partialBytes = 0;

  constructor(limit: number, onLine: (line: string) => void) {
    this.#limit = limit;
    this.#onLine = onLine;
  }

  /** Adds bytes and emits each complete line without its line ending. Empty lines are skipped. */
  push(chunk: Buffer): void {
    const end = chunk.lastIndexOf(LF);
    if (end === -1) {
      this.#keep(chunk);
      return;
    }
    // Complete lines first: they are valid even if the remaining bytes exceed the limit.
    this.#emit(this.#take(chunk.subarray(0, end)));
    this.#keep(chunk.subarray(end + 1));
  }

  /** Ends the stream. Emits the remaining bytes as the last line. */
  end(): void {
    if (this.#partialBytes > 0) this.#emit(this.#take(Buffer.alloc(0)));
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#partial.push(bytes);
    this.#partialBytes += bytes.length;
    // A carriage return at the end may be the first half of a line ending.
    const lineBytes = bytes.at(-1) === CR ? this.#partialBytes - 1 : this.#partialBytes;
    if (lineBytes > this.#limit) throw tooLarge(this.#limit);
  }

  #take(last: Buffer): Buffer {
    if (this.#partialBytes === 0) return last;
    const joined = Buffer.concat([...this.#partial, last], this.#partialBytes + last.length);
    this.#partial = [];
    this.#partialBytes = 0;
    return joined;
  }

  #emit(bytes: Buffer): void {
    if (bytes.length > this.#limit) {
      this.#emitMeasured(bytes);
      return;
    }
    // Decoding all lines of a chunk at once is several times cheaper than decoding each line.
    const text = bytes.toString("utf8");
    let start = 0;
    while (start <= text.length) {
      const found = text.indexOf("\n", start);
      const next = found === -1 ? text.length : found;
      const end = next > start && text.charCodeAt(next - 1) === CR ? next - 1 : next;
      if (end > start) this.#onLine(text.slice(start, end));
      start = next + 1;
    }
  }

  /** Measures each line in bytes. The decoded text may have another length, since invalid UTF-8 is replaced. */
  #emitMeasured(bytes: Buffer): void {
    let start = 0;
    while (start <= bytes.length) {
      const found = bytes.indexOf(LF, start);
      const next = found === -1 ? bytes.length : found;
      const end = next > start && bytes[next - 1] === CR ? next - 1 : next;
      if (end - start > this.#limit) throw tooLarge(this.#limit);
      if (end > start) this.#onLine(bytes.toString("utf8", start, end));
      start = next + 1;
    }
  }
}

function tooLarge(limit: number): RpcError {
  return new RpcError("message_too_large", `Received a line of more than ${limit} bytes (messageBytes).`);
}
