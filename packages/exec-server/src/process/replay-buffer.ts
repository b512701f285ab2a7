import { EXEC_LIMITS, SERVER_LIMITS } from "../limits.ts";
import type { OutputStream } from "../wire/exec-wire.ts";

export interface RetainedChunk {
  readonly seq: number;
  readonly stream: OutputStream;
  readonly bytes: Buffer;
}

/** Chunks from here on are worth a memory of their own that serves again. */
const LARGE_BYTES = EXEC_LIMITS.chunkBytes / 2;

/**
 * The newest output of one process: as much as the two limits allow, whole chunks only. A stream that goes on for ever
 * makes no garbage: what a chunk leaves when it is evicted takes the next one in.
 */
export class ReplayBuffer {
  readonly #maxBytes: number;
  readonly #maxChunks: number;
  #chunks: RetainedChunk[] = [];
  #head = 0;
  #bytes = 0;
  #spare: Buffer | undefined;

  constructor(
    maxBytes: number = SERVER_LIMITS.retainedBytes,
    maxChunks: number = SERVER_LIMITS.retainedChunks,
  ) {
    this.#maxBytes = maxBytes;
    this.#maxChunks = maxChunks;
  }

  /** Keeps a copy: the bytes may be lent. */
  push({ seq, stream, bytes }: RetainedChunk): void {
    const isFull = (): boolean =>
      this.#bytes + bytes.length > this.#maxBytes || this.#size >= this.#maxChunks;
    while (this.#size > 0 && isFull()) this.#evict();
    if (bytes.length > this.#maxBytes) return;
    this.#chunks.push({ seq, stream, bytes: this.#copy(bytes) });
    this.#bytes += bytes.length;
  }

  /** Chunks behind a number; with a budget at least one, and then as many as fit. */
  after(seq: number, maxBytes = Infinity): RetainedChunk[] {
    const found: RetainedChunk[] = [];
    let total = 0;
    for (let index = this.#firstAfter(seq); index < this.#chunks.length; index += 1) {
      const chunk = this.#chunks[index];
      if (chunk === undefined || (found.length > 0 && total + chunk.bytes.length > maxBytes)) break;
      found.push(chunk);
      total += chunk.bytes.length;
      if (total >= maxBytes) break;
    }
    return found;
  }

  hasAfter(seq: number): boolean {
    const last = this.#size > 0 ? this.#chunks.at(-1) : undefined;
    return last !== undefined && last.seq > seq;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Releases memory that was kept for further output. */
  trim(): void {
    this.#spare = undefined;
    this.#chunks = this.#chunks.slice(this.#head);
    this.#head = 0;
  }

  /** Forgets all of it. */
  clear(): void {
    this.#chunks = [];
    this.#head = 0;
    this.#bytes = 0;
    this.#spare = undefined;
  }

  get #size(): number {
    return this.#chunks.length - this.#head;
  }

  #copy(bytes: Buffer): Buffer {
    const { length } = bytes;
    if (length < LARGE_BYTES) return Buffer.from(bytes);
    const fits = this.#spare !== undefined && this.#spare.buffer.byteLength >= length;
    const memory =
      fits && this.#spare ? Buffer.from(this.#spare.buffer, 0, length) : Buffer.allocUnsafeSlow(length);
    if (fits) this.#spare = undefined;
    bytes.copy(memory);
    return memory;
  }

  #evict(): void {
    const evicted = this.#chunks[this.#head]?.bytes;
    this.#bytes -= evicted?.length ?? 0;
    // Small ones share their memory with others.
    if (evicted && evicted.length >= LARGE_BYTES) this.#spare = evicted;
    this.#head += 1;
    // Shifting one by one would copy the list each time.
    if (this.#head < 1024 || this.#head * 2 < this.#chunks.length) return;
    this.#chunks = this.#chunks.slice(this.#head);
    this.#head = 0;
  }

  /** Binary search: numbers only grow. */
  #firstAfter(seq: number): number {
    let low = this.#head;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#chunks[middle]?.seq ?? Infinity) > seq) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
