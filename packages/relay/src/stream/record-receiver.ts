import { RelayError } from "../errors.ts";
import type { DataBody } from "../frames/frame.ts";
import { MessageReader } from "../frames/message-reader.ts";
import { ReorderBuffer, type ReorderResult } from "../frames/reorder-buffer.ts";
import type { RelayLimits } from "../limits.ts";
import { AES_TAG_BYTES } from "../noise/aes-gcm.ts";
import type { CipherState } from "../noise/cipher-state.ts";
import { ACK_BITS } from "./reliability/send-buffer.ts";
import { SegmentChecker, segmentData } from "./reliability/segment-checker.ts";

/** The record that ends a reliable stream: a message without content, which is no valid message. */
export const END_RECORD = Buffer.alloc(4);

export interface RecordEvents {
  readonly onMessage: (message: Buffer) => void;
  /** A record of a reliable stream could not be decrypted. It counts as lost. */
  readonly onForged: () => void;
  /** The other end closed a reliable stream. */
  readonly onEnd: () => void;
}

/** Turns the data frames of a stream into messages: order, decryption, segments, message lengths. */
export class RecordReceiver {
  /** Set once both ends have agreed on the reliability extension. */
  isReliable = false;
  readonly #key: CipherState;
  readonly #limits: RelayLimits;
  readonly #events: RecordEvents;
  readonly #reorder: ReorderBuffer<DataBody>;
  readonly #reader: MessageReader;
  readonly #segments = new SegmentChecker();
  #forgedRecords = 0;

  constructor(key: CipherState, limits: RelayLimits, events: RecordEvents) {
    this.#key = key;
    this.#limits = limits;
    this.#events = events;
    const { reorderFrames, reorderBytes, windowFrames, windowBytes } = limits;
    this.#reorder = new ReorderBuffer(
      () =>
        this.isReliable
          ? { frames: windowFrames, bytes: windowBytes }
          : { frames: reorderFrames, bytes: reorderBytes },
      ({ payload }) => payload.length,
    );
    this.#reader = new MessageReader(limits.messageBytes, events.onMessage);
  }

  /** Number of records that arrived without a gap. */
  get ack(): number {
    return this.#reorder.nextSeq;
  }

  /** Bit i stands for record `ack + 1 + i`. */
  get ackBits(): number {
    if (!this.#reorder.hasGap) return 0;
    let bits = 0;
    for (let bit = 0; bit < ACK_BITS; bit++) {
      if (this.#reorder.has(this.#reorder.nextSeq + 1 + bit)) bits |= 1 << bit;
    }
    return bits >>> 0;
  }

  get hasGap(): boolean {
    return this.#reorder.hasGap;
  }

  /** Processes a frame and all that it makes complete. Throws a `RelayError` for a violation. */
  receive(data: DataBody): ReorderResult {
    if (data.payload.length > this.#limits.recordBytes + AES_TAG_BYTES) {
      throw new RelayError("protocol_violation", "Received a record that is too large.");
    }
    return this.#reorder.push(data.seq, data, (record) => this.#open(record));
  }

  clear(): void {
    this.#reorder.clear();
  }

  /** Returns false for a record that is to be sent again. */
  #open(data: DataBody): boolean {
    const { segmentIndex, segmentCount } = data;
    if (segmentCount !== 1 && !this.isReliable) {
      throw new RelayError("protocol_violation", "Received a segment, which is not supported.");
    }
    const plaintext = this.#decrypt(data);
    if (!plaintext) return false;
    const isComplete = this.#segments.accept(segmentIndex, segmentCount);
    if (this.isReliable && this.#reader.isAtBoundary && plaintext.equals(END_RECORD)) {
      this.#events.onEnd();
      return true;
    }
    this.#reader.push(plaintext);
    if (segmentCount > 1 && isComplete !== this.#reader.isAtBoundary) {
      throw new RelayError("protocol_violation", "Received segments that are not one message.");
    }
    return true;
  }

  /** Returns undefined for a record that was tampered with, if it is sent again: anyone on the way can damage it. */
  #decrypt({ seq, segmentIndex, segmentCount, payload }: DataBody): Buffer | undefined {
    try {
      return this.#key.decrypt(seq, payload, segmentData(segmentIndex, segmentCount));
    } catch (error) {
      if (!RelayError.is(error) || error.code !== "protocol_violation" || !this.isReliable) throw error;
      this.#forgedRecords += 1;
      if (this.#forgedRecords > this.#limits.forgedRecords) throw error;
      this.#events.onForged();
      return undefined;
    }
  }
}
