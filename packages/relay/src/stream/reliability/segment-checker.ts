import { RelayError } from "../../errors.ts";

/**
 * Authenticates the position of a segment with its record, because it is in clear. A record that is not segmented has no
 * such data, as in Codex's protocol: turning one kind into the other makes decryption fail.
 */
export function segmentData(index: number, count: number): Buffer | undefined {
  if (count === 1) return undefined;
  const data = Buffer.allocUnsafe(8);
  data.writeUInt32BE(index, 0);
  data.writeUInt32BE(count, 4);
  return data;
}

/** Checks that segments arrive as whole messages: 0 to count - 1, without others in between. */
export class SegmentChecker {
  #next = 0;
  #count = 1;

  /** Whether the record completes a message. Throws `protocol_violation` for a record out of place. */
  accept(index: number, count: number): boolean {
    const continues = this.#next > 0;
    if (index !== this.#next || (continues && count !== this.#count)) {
      throw new RelayError("protocol_violation", "Received a segment of another message.");
    }
    this.#count = count;
    this.#next = index + 1 === count ? 0 : index + 1;
    return this.#next === 0;
  }
}
