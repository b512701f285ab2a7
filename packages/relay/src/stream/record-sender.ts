import { DataFrameEncoder } from "../frames/data-frame-encoder.ts";
import { AES_TAG_BYTES } from "../noise/aes-gcm.ts";
import type { CipherState } from "../noise/cipher-state.ts";
import { MessagePacker } from "./message-packer.ts";
import { segmentData } from "./reliability/segment-checker.ts";

/** The state of the stream that a frame carries or depends on. */
export interface FrameState {
  readonly ack: number;
  readonly ackBits: number;
  /** Whether the other end knows segments. To Codex, each record is a part of a byte stream. */
  readonly hasSegments: boolean;
}

/** Turns messages into encrypted data frames. */
export class RecordSender {
  readonly #key: CipherState;
  readonly #encoder: DataFrameEncoder;
  readonly #packer: MessagePacker;
  readonly #state: () => FrameState;
  readonly #onFrame: (frame: Buffer) => void;

  constructor(
    streamId: string,
    key: CipherState,
    recordBytes: number,
    state: () => FrameState,
    onFrame: (frame: Buffer) => void,
  ) {
    this.#key = key;
    this.#encoder = new DataFrameEncoder(streamId);
    this.#packer = new MessagePacker(recordBytes, (plaintext, index, count) =>
      this.sendRecord(plaintext, index, count),
    );
    this.#state = state;
    this.#onFrame = onFrame;
  }

  /** Bytes that wait for `flush`. */
  get pendingBytes(): number {
    return this.#packer.pendingBytes;
  }

  /** Adds a message of `length` bytes. Small ones wait for `flush`, so that they share a frame. */
  add(message: string | Uint8Array, length: number): void {
    this.#packer.add(message, length);
  }

  flush(): void {
    this.#packer.flush();
  }

  /** Sends one record. Throws `limit` when the numbers of the stream are used up. */
  sendRecord(plaintext: Buffer, index = 0, count = 1): void {
    const { ack, ackBits, hasSegments } = this.#state();
    const segmentIndex = hasSegments ? index : 0;
    const segmentCount = hasSegments ? count : 1;
    const header = { ack, ackBits, seq: this.#key.nextNonce, segmentIndex, segmentCount };
    const payloadBytes = plaintext.length + AES_TAG_BYTES;
    const room = this.#encoder.headerBytes(header, payloadBytes);
    const frame = this.#key.encrypt(plaintext, room, segmentData(segmentIndex, segmentCount));
    this.#encoder.writeHeader(frame, header, payloadBytes);
    this.#onFrame(frame);
  }
}
