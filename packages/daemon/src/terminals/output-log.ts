/** Chunks smaller than this fraction of the limit are merged, so that the number of chunks is limited, too. */
const CHUNKS = 256;

interface Chunk {
  readonly bytes: Buffer;
  /** Number of bytes that are in use. */
  length: number;
}

/** The newest bytes of an output, by their offset from the beginning. */
export class OutputLog {
  readonly #maxBytes: number;
  readonly #chunkBytes: number;
  #chunks: Chunk[] = [];
  #start = 0;
  #end = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#chunkBytes = Math.floor(maxBytes / CHUNKS);
  }

  /** Offset of the oldest stored byte. */
  get start(): number {
    return this.#start;
  }

  /** Offset after the newest byte. */
  get end(): number {
    return this.#end;
  }

  /** Removes the oldest bytes above the limit, but not those at or after `keepFrom`. */
  append(bytes: Buffer, keepFrom: number): void {
    this.#add(bytes);
    this.#end += bytes.length;
    let removed = 0;
    for (const { length } of this.#chunks) {
      const next = this.#start + length;
      if (this.#end - next < this.#maxBytes || next > keepFrom) break;
      this.#start = next;
      removed += 1;
    }
    if (removed > 0) this.#chunks = this.#chunks.slice(removed);
  }

  /** Returns up to `maxBytes` bytes starting at an offset. Undefined if they have been removed. */
  read(offset: number, maxBytes: number): Buffer | undefined {
    if (offset < this.#start || offset > this.#end) return undefined;
    const parts: Buffer[] = [];
    let size = 0;
    let position = this.#start;
    for (const { bytes, length } of this.#chunks) {
      const from = Math.max(offset - position, 0);
      position += length;
      if (from >= length) continue;
      parts.push(bytes.subarray(from, Math.min(length, from + maxBytes - size)));
      size += parts.at(-1)?.length ?? 0;
      if (size >= maxBytes) break;
    }
    return Buffer.concat(parts);
  }

  #add(bytes: Buffer): void {
    const last = this.#chunks.at(-1);
    if (last && last.bytes.length - last.length >= bytes.length) {
      bytes.copy(last.bytes, last.length);
      last.length += bytes.length;
      return;
    }
    if (bytes.length >= this.#chunkBytes) {
      this.#chunks.push({ bytes, length: bytes.length });
      return;
    }
    const chunk = { bytes: Buffer.allocUnsafeSlow(this.#chunkBytes), length: bytes.length };
    bytes.copy(chunk.bytes);
    this.#chunks.push(chunk);
  }
}
