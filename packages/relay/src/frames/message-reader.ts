import { RelayError } from "../errors.ts";

const LENGTH_BYTES = 4;

/** Pieces below this size are merged: a peer may send a large message in records of one byte, and each piece costs an object. */
const SMALL_PIECE_BYTES = 4096;

/**
 * Splits the decrypted byte stream into messages, each of which is preceded by its length as a big-endian 32-bit number.
 * A record may hold many messages, and a message may span many records.
 */
export class MessageReader {
  readonly #maxBytes: number;
  readonly #onMessage: (message: Buffer) => void;
  /** Pieces of a length or a message that continues in the next record. They hold no more than was received. */
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  /** Length of the current message, or undefined while its length is being read. */
  #length: number | undefined;

  constructor(maxBytes: number, onMessage: (message: Buffer) => void) {
    this.#maxBytes = maxBytes;
    this.#onMessage = onMessage;
  }

  /** Bytes of the incomplete message. */
  get pendingBytes(): number {
    return this.#pieceBytes;
  }

  /** Whether everything received so far was complete messages. */
  get isAtBoundary(): boolean {
    return this.#length === undefined && this.#pieceBytes === 0;
  }

  /** Reads a record. Messages are views into it where possible. Throws `protocol_violation` for a wrong length. */
  push(record: Buffer): void {
    let at = 0;
    while (at < record.length) {
      const needed = (this.#length ?? LENGTH_BYTES) - this.#pieceBytes;
      const piece = record.subarray(at, at + needed);
      at += piece.length;
      if (piece.length < needed) {
        this.#keep(piece);
        return;
      }
      this.#complete(this.#join(piece));
    }
  }

  /** Merges pieces of similar sizes, so that few are left and each byte is copied a few times only. */
  #keep(piece: Buffer): void {
    this.#pieceBytes += piece.length;
    let merged = piece;
    for (;;) {
      const last = this.#pieces.at(-1);
      if (!last || last.length > merged.length || merged.length >= SMALL_PIECE_BYTES) break;
      this.#pieces.pop();
      merged = Buffer.concat([last, merged]);
    }
    this.#pieces.push(merged);
  }

  #complete(bytes: Buffer): void {
    if (this.#length !== undefined) {
      this.#length = undefined;
      this.#onMessage(bytes);
      return;
    }
    const length = bytes.readUInt32BE();
    if (length === 0 || length > this.#maxBytes) {
      throw new RelayError(
        "protocol_violation",
        `Received a message of ${length} bytes; expected 1 to ${this.#maxBytes}.`,
      );
    }
    this.#length = length;
  }

  #join(last: Buffer): Buffer {
    if (this.#pieces.length === 0) return last;
    const joined = Buffer.concat([...this.#pieces, last]);
    this.#pieces = [];
    this.#pieceBytes = 0;
    return joined;
  }
}
