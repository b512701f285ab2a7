import { EXEC_LIMITS, SERVER_LIMITS } from "../limits.ts";
import type { OutputStream } from "../wire/exec-wire.ts";

export interface RetainedChunk {
  readonly seq: number;
  readonly stream: OutputStream;
  readonly bytes: Buffer;
}

/**
 * Chunks of at least this size are stored in slabs, as are all later chunks of a process that has printed
 * this much.
 */
const LARGE_BYTES = EXEC_LIMITS.chunkBytes / 2;

/** Large enough that few mappings are needed for the output of many processes. */
const SLAB_BYTES = 4 * EXEC_LIMITS.chunkBytes;

interface Slab {
  readonly memory: Buffer;
  used: number;
  /** Number of chunks in it that are still retained. */
  chunks: number;
}

interface StoredChunk extends RetainedChunk {
  readonly slab: Slab | undefined;
}

/**
 * The newest output of one process within two limits, in whole chunks. Slabs are reused when their chunks have been evicted,
 * so that an endless stream creates no garbage.
 */
export class ReplayBuffer {
  readonly #maxBytes: number;
  readonly #maxChunks: number;
  #chunks: StoredChunk[] = [];
  #head = 0;
  #bytes = 0;
  #current: Slab | undefined;
  #spare: Slab | undefined;

  constructor(
    maxBytes: number = SERVER_LIMITS.retainedBytes,
    maxChunks: number = SERVER_LIMITS.retainedChunks,
  ) {
    this.#maxBytes = maxBytes;
    this.#maxChunks = maxChunks;
  }

  /** Stores a copy, because the caller may reuse the bytes. */
  push({ seq, stream, bytes }: RetainedChunk): void {
    const isFull = (): boolean =>
      this.#bytes + bytes.length > this.#maxBytes || this.#size >= this.#maxChunks;
    while (this.#size > 0 && isFull()) this.#evict();
    if (bytes.length > this.#maxBytes) return;
    const isLarge = this.#bytes + bytes.length >= LARGE_BYTES;
    const slab = isLarge ? this.#slabFor(bytes.length) : undefined;
    this.#chunks.push({ seq, stream, slab, bytes: slab ? copyInto(slab, bytes) : Buffer.from(bytes) });
    this.#bytes += bytes.length;
  }

  /**
   * Returns chunks after a sequence number, within a budget of bytes, but at least one chunk if there is any.
   */
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

  /** Drops all chunks. */
  clear(): void {
    this.#chunks = [];
    this.#head = 0;
    this.#bytes = 0;
    this.#current = undefined;
    this.#spare = undefined;
  }

  get #size(): number {
    return this.#chunks.length - this.#head;
  }

  #slabFor(length: number): Slab {
    if (this.#current && this.#current.used + length <= SLAB_BYTES) return this.#current;
    const full = this.#current;
    // All of its chunks may have been evicted while it was being filled.
    this.#current = full?.chunks === 0 ? full : (this.#spare ?? newSlab());
    if (this.#current === this.#spare) this.#spare = undefined;
    this.#current.used = 0;
    return this.#current;
  }

  #evict(): void {
    const evicted = this.#chunks[this.#head];
    this.#bytes -= evicted?.bytes.length ?? 0;
    const slab = evicted?.slab;
    if (slab) {
      slab.chunks -= 1;
      if (slab.chunks === 0 && slab !== this.#current) this.#spare = slab;
    }
    this.#head += 1;
    // Removing the first element each time would copy the list.
    if (this.#head < 1024 || this.#head * 2 < this.#chunks.length) return;
    this.#chunks = this.#chunks.slice(this.#head);
    this.#head = 0;
  }

  /** Binary search. Sequence numbers are ascending. */
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

/**
 * V8 maps the memory of a resizable buffer by itself, and returns it to the system when it is collected. Ordinary buffers come
 * from the heap of the C library, where retained output would lie between short-lived blocks and keep all of them.
 */
function newSlab(): Slab {
  const memory = new ArrayBuffer(SLAB_BYTES, { maxByteLength: SLAB_BYTES });
  return { memory: Buffer.from(memory, 0, SLAB_BYTES), used: 0, chunks: 0 };
}

function copyInto(slab: Slab, bytes: Buffer): Buffer {
  const copy = slab.memory.subarray(slab.used, slab.used + bytes.length);
  bytes.copy(copy);
  slab.used += bytes.length;
  slab.chunks += 1;
  return copy;
}
