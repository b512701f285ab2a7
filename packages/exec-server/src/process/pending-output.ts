import { EXEC_LIMITS } from "../limits.ts";

/**
 * Spare buffers of one chunk each, shared by all processes. There are never more than were pending at once.
 */
const spare: Buffer[] = [];

/** Joins small pieces of output into one chunk. */
export class PendingOutput {
  #first: Buffer | undefined;
  #memory: Buffer | undefined;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Whether a piece still fits into a chunk of at most `limit` bytes. */
  fits(length: number, limit: number): boolean {
    return this.#length + length <= limit;
  }

  /** Copies the bytes. If no buffer is spare, a single piece, the usual case, needs no more memory than its own size. */
  add(bytes: Buffer): void {
    if (this.#length === 0) this.#memory = spare.pop();
    else this.#memory ??= this.#begin();
    if (this.#memory) bytes.copy(this.#memory, this.#length);
    else this.#first = Buffer.from(bytes);
    this.#length += bytes.length;
  }

  /** Passes the pending bytes to `use`. They are valid until it returns. */
  flush(use: (bytes: Buffer) => void): void {
    const memory = this.#memory;
    const bytes = memory ? memory.subarray(0, this.#length) : this.#first;
    this.#first = undefined;
    this.#memory = undefined;
    this.#length = 0;
    if (bytes && bytes.length > 0) use(bytes);
    if (memory) spare.push(memory);
  }

  #begin(): Buffer {
    const memory = Buffer.allocUnsafeSlow(EXEC_LIMITS.chunkBytes);
    this.#first?.copy(memory);
    this.#first = undefined;
    return memory;
  }
}
