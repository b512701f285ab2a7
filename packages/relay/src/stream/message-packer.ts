const LENGTH_BYTES = 4;

/** Receives the plaintext of one record, which is only valid during the call. */
export type OnRecord = (plaintext: Buffer, segmentIndex: number, segmentCount: number) => void;

/**
 * Packs messages into records, each message preceded by its length. Small messages share a record. A message that is larger than a
 * record is split into several records, its segments.
 */
export class MessagePacker {
  readonly #recordBytes: number;
  readonly #onRecord: OnRecord;
  /** The buffer of the record that is being filled. It is reused for each record. */
  #record: Buffer | undefined;
  #usedBytes = 0;

  constructor(recordBytes: number, onRecord: OnRecord) {
    this.#recordBytes = recordBytes;
    this.#onRecord = onRecord;
  }

  /** Bytes that wait for `flush`. */
  get pendingBytes(): number {
    return this.#usedBytes;
  }

  /** Adds a message of `length` bytes. The caller may reuse a buffer afterwards. */
  add(message: string | Uint8Array, length: number): void {
    const total = LENGTH_BYTES + length;
    if (total > this.#recordBytes - this.#usedBytes) this.flush();
    if (total > this.#recordBytes) this.#addLarge(message, length);
    else {
      this.#record ??= Buffer.allocUnsafeSlow(this.#recordBytes);
      writeMessage(this.#record, this.#usedBytes, message, length);
      this.#usedBytes += total;
    }
  }

  /** Completes the record that is being filled. */
  flush(): void {
    if (this.#usedBytes === 0 || !this.#record) return;
    const record = this.#record.subarray(0, this.#usedBytes);
    this.#usedBytes = 0;
    this.#onRecord(record, 0, 1);
  }

  #addLarge(message: string | Uint8Array, length: number): void {
    const bytes = Buffer.allocUnsafeSlow(LENGTH_BYTES + length);
    writeMessage(bytes, 0, message, length);
    const count = Math.ceil(bytes.length / this.#recordBytes);
    for (let index = 0; index < count; index++) {
      const start = index * this.#recordBytes;
      this.#onRecord(bytes.subarray(start, start + this.#recordBytes), index, count);
    }
  }
}

function writeMessage(target: Buffer, at: number, message: string | Uint8Array, length: number): void {
  target.writeUInt32BE(length, at);
  if (typeof message === "string") target.write(message, at + LENGTH_BYTES, "utf8");
  else target.set(message, at + LENGTH_BYTES);
}
