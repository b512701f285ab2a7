import { RpcError } from "./errors.ts";

const LF = 10;
const CR = 13;

/**
 * Cuts a stream of bytes into lines. Only new bytes are scanned and a line is joined once, so that a line of any length
 * costs time in proportion to its length. Bytes are decoded only up to a line feed, so no UTF-8 character is ever split.
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

  /** Takes the next bytes and emits each line that they complete, without its line end. Empty lines are passed over. */
  push(chunk: Buffer): void {
    const end = chunk.lastIndexOf(LF);
    if (end === -1) {
      this.#keep(chunk);
      return;
    }
    // Lines first: they came whole, whatever the bytes behind them turn out to be.
    this.#emit(this.#take(chunk.subarray(0, end)));
    this.#keep(chunk.subarray(end + 1));
  }

  /** The stream ended: what is left is a line too. */
  end(): void {
    if (this.#partialBytes > 0) this.#emit(this.#take(Buffer.alloc(0)));
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#partial.push(bytes);
    this.#partialBytes += bytes.length;
    // A carriage return at the end is half a line end until the next byte says otherwise.
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
    // One decode for all lines of a chunk is several times cheaper than one a line.
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

  /** Measures each line in the bytes that came: text says less, since bad UTF-8 changes its length in decoding. */
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
  return new RpcError(
    "message_too_large",
    `A line of more than ${limit} bytes came; the limit is messageBytes.`,
  );
}
