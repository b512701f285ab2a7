/** The newest bytes of an output, by their offset from its beginning. */
export class OutputLog {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #start = 0;
  #end = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Offset of the oldest byte. */
  get start(): number {
    return this.#start;
  }

  /** Offset after the newest byte. */
  get end(): number {
    return this.#end;
  }

  /** Removes the oldest bytes above the limit, but none from `keepFrom` on. */
  append(bytes: Buffer, keepFrom: number): void {
    this.#chunks.push(bytes);
    this.#end += bytes.length;
    let removed = 0;
    for (const chunk of this.#chunks) {
      const next = this.#start + chunk.length;
      if (this.#end - next < this.#maxBytes || next > keepFrom) break;
      this.#start = next;
      removed += 1;
    }
    if (removed > 0) this.#chunks = this.#chunks.slice(removed);
  }

  /** Bytes from an offset on, at most this many. Undefined if they are gone. */
  read(offset: number, maxBytes: number): Buffer | undefined {
    if (offset < this.#start || offset > this.#end) return undefined;
    const parts: Buffer[] = [];
    let size = 0;
    let position = this.#start;
    for (const chunk of this.#chunks) {
      const from = Math.max(offset - position, 0);
      position += chunk.length;
      if (from >= chunk.length) continue;
      parts.push(chunk.subarray(from, from + maxBytes - size));
      size += parts.at(-1)?.length ?? 0;
      if (size >= maxBytes) break;
    }
    return Buffer.concat(parts);
  }
}
