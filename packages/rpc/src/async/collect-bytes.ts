/** Chunks below this size are copied into blocks. */
const SMALL_CHUNK_BYTES = 16 * 1024;
const BLOCK_BYTES = { first: 4 * 1024, longest: 64 * 1024 } as const;

/**
 * Joins the chunks of a body. Stops reading and returns `undefined` as soon as there are more than `maxBytes` bytes: the length
 * that a peer declares may be missing or wrong.
 */
export async function collectBytes(
  chunks: AsyncIterable<Uint8Array> | null,
  maxBytes: number,
): Promise<Buffer | undefined> {
  const collected = new ChunkList();
  let size = 0;
  for await (const chunk of chunks ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) return undefined;
    collected.push(chunk);
  }
  return collected.join();
}

/** Reads the body of a request. Returns `undefined` if it has more than `maxBytes` bytes, or declares so. */
export async function collectBody(request: Request, maxBytes: number): Promise<Buffer | undefined> {
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) return undefined;
  return collectBytes(request.body as AsyncIterable<Uint8Array> | null, maxBytes);
}

/**
 * Merges small chunks. A peer can send one byte per chunk, and each chunk may keep the whole buffer in which it was received
 * alive.
 */
class ChunkList {
  readonly #parts: Uint8Array[] = [];
  #block: Buffer = Buffer.alloc(0);
  /** Start and end of the range of the block that is not in `parts` yet. */
  #start = 0;
  #end = 0;

  push(chunk: Uint8Array): void {
    if (chunk.byteLength === 0) return;
    if (chunk.byteLength >= SMALL_CHUNK_BYTES) {
      this.#flush();
      this.#parts.push(chunk);
      return;
    }
    if (chunk.byteLength > this.#block.length - this.#end) {
      this.#flush();
      const bytes = Math.max(BLOCK_BYTES.first, chunk.byteLength, this.#block.length * 2);
      this.#block = Buffer.allocUnsafeSlow(Math.min(bytes, BLOCK_BYTES.longest));
      this.#start = this.#end = 0;
    }
    this.#block.set(chunk, this.#end);
    this.#end += chunk.byteLength;
  }

  join(): Buffer {
    this.#flush();
    return Buffer.concat(this.#parts);
  }

  #flush(): void {
    if (this.#end > this.#start) this.#parts.push(this.#block.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }
}
