import { RpcError, type TransportReceiver } from "@codexkit/rpc";
import { RelayError } from "../errors.ts";
import { DataFrameEncoder } from "../frames/data-frame-encoder.ts";
import { encodeFrame } from "../frames/encode-frame.ts";
import { type DataBody, type RelayFrame, RESET_REASON } from "../frames/frame.ts";
import { MessageReader } from "../frames/message-reader.ts";
import { ReorderBuffer } from "../frames/reorder-buffer.ts";
import type { RelayLimits } from "../limits.ts";
import { AES_TAG_BYTES } from "../noise/aes-gcm.ts";
import type { RelayPublicKey } from "../noise/identity.ts";
import type { StreamKeys } from "../noise/transcript.ts";
import type { RelayCounters } from "./counters.ts";
import { MessagePacker } from "./message-packer.ts";
import { MessageQueue, type MessageReceiver } from "./message-queue.ts";
import type { RelayStream } from "./relay-stream.ts";

/** The connection that a stream uses at the moment. */
export interface StreamLink {
  send(frame: Uint8Array): Promise<void> | undefined;
  readonly bufferedBytes: number;
  /** Stops and continues reading, if the connection carries no other stream. */
  setPaused(isPaused: boolean): void;
  /** The stream has ended and sends nothing more. */
  release(): Promise<void>;
}

export interface EncryptedStreamOptions {
  readonly streamId: string;
  readonly remoteKey: RelayPublicKey;
  readonly keys: StreamKeys;
  readonly link: StreamLink;
  readonly limits: RelayLimits;
  readonly counters: RelayCounters;
}

/** One end of an established stream. Its owner passes the frames of the stream to `receive`. */
export class EncryptedStream implements RelayStream {
  readonly streamId: string;
  readonly remoteKey: RelayPublicKey;
  readonly isResumable = false;
  readonly #keys: StreamKeys;
  readonly #link: StreamLink;
  readonly #limits: RelayLimits;
  readonly #counters: RelayCounters;
  readonly #encoder: DataFrameEncoder;
  readonly #packer: MessagePacker;
  readonly #reorder: ReorderBuffer<DataBody>;
  readonly #reader: MessageReader;
  readonly #queue: MessageQueue;
  #blocked: Promise<void> | undefined;
  #isFlushScheduled = false;
  #closing: Promise<void> | undefined;

  constructor({ streamId, remoteKey, keys, link, limits, counters }: EncryptedStreamOptions) {
    this.streamId = streamId;
    this.remoteKey = remoteKey;
    this.#keys = keys;
    this.#link = link;
    this.#limits = limits;
    this.#counters = counters;
    this.#encoder = new DataFrameEncoder(streamId);
    this.#packer = new MessagePacker(limits.recordBytes, (plaintext, index, count) =>
      this.#sendRecord(plaintext, index, count),
    );
    const reorderLimits = { frames: limits.reorderFrames, bytes: limits.reorderBytes };
    this.#reorder = new ReorderBuffer(reorderLimits, ({ payload }) => payload.length);
    this.#reader = new MessageReader(limits.messageBytes, (message) => this.#deliver(message));
    this.#queue = new MessageQueue(limits);
    counters.streamsOpened += 1;
  }

  get bufferedBytes(): number {
    return this.#packer.pendingBytes + this.#link.bufferedBytes;
  }

  start(receiver: TransportReceiver): void {
    this.startBytes({
      message: (bytes) => receiver.text(bytes.toString("utf8")),
      closed: (cause) => receiver.closed(cause),
    });
  }

  startBytes(receiver: MessageReceiver): void {
    this.#queue.start(receiver);
  }

  send(message: string | Uint8Array): Promise<void> | undefined {
    if (this.#queue.hasEnded || this.#closing) throw new RpcError("closed", "The stream is closed.");
    const length = typeof message === "string" ? Buffer.byteLength(message) : message.length;
    this.#checkSize(length);
    this.#packer.add(message, length);
    this.#scheduleFlush();
    return this.#blocked;
  }

  flush(): void {
    if (!this.#queue.hasEnded) this.#packer.flush();
  }

  pause(): void {
    this.#queue.pause();
    this.#link.setPaused(true);
  }

  resume(): void {
    this.#queue.resume();
    this.#link.setPaused(false);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Processes a frame of this stream. */
  receive(frame: RelayFrame): void {
    if (this.#queue.hasEnded) return;
    const { body } = frame;
    switch (body.kind) {
      case "data":
        this.#receiveData(body);
        break;
      case "reset":
        this.#finish(new RelayError("disconnected", "The other end ended the stream."));
        break;
      case "handshake":
        this.fail();
        break;
      case "ack":
      case "heartbeat":
      case "resume":
        break;
    }
  }

  /** The connection was lost. */
  disconnected(cause: Error | undefined): void {
    this.#finish(new RelayError("disconnected", "The connection to the rendezvous ended.", { cause }));
  }

  /** Resets the stream because the other end violated the protocol. */
  fail(cause = new RelayError("protocol_violation", "The other end violated the relay protocol.")): void {
    if (this.#queue.hasEnded) return;
    this.#counters.streamsReset += 1;
    this.#sendReset();
    this.#finish(cause, true);
  }

  #checkSize(length: number): void {
    const { messageBytes, bufferedBytes } = this.#limits;
    if (length === 0 || length > messageBytes) {
      throw new RpcError(
        "message_too_large",
        `A message of ${length} bytes can't be sent; the limit is ${messageBytes} (messageBytes).`,
      );
    }
    if (this.bufferedBytes > bufferedBytes) {
      throw new RpcError(
        "queue_full",
        `The other side is not reading: more than ${bufferedBytes} bytes are buffered (bufferedBytes).`,
      );
    }
  }

  #scheduleFlush(): void {
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    setImmediate(() => {
      this.#isFlushScheduled = false;
      this.flush();
    });
  }

  #sendRecord(plaintext: Buffer, _segmentIndex: number, _segmentCount: number): void {
    const header = {
      ack: 0,
      ackBits: 0,
      seq: this.#keys.send.nextNonce,
      segmentIndex: 0,
      segmentCount: 1,
    };
    const payloadBytes = plaintext.length + AES_TAG_BYTES;
    const frame = this.#keys.send.encrypt(plaintext, this.#encoder.headerBytes(header, payloadBytes));
    this.#encoder.writeHeader(frame, header, payloadBytes);
    const blocked = this.#link.send(frame);
    if (!blocked || this.#blocked) return;
    this.#blocked = blocked.then(() => {
      this.#blocked = undefined;
    });
  }

  #receiveData(data: DataBody): void {
    try {
      if (data.segmentCount !== 1)
        throw new RelayError("protocol_violation", "Received an unexpected segment.");
      const result = this.#reorder.push(data.seq, data, (seq, { payload }) => this.#openRecord(seq, payload));
      if (result === "duplicate") this.#counters.framesDuplicate += 1;
      if (result === "full")
        throw new RelayError("protocol_violation", "Too many records arrived out of order.");
    } catch (error) {
      this.fail(error as RelayError);
    }
  }

  #openRecord(seq: number, payload: Uint8Array): void {
    if (this.#queue.hasEnded) return;
    if (payload.length > this.#limits.recordBytes + AES_TAG_BYTES) {
      throw new RelayError("protocol_violation", "Received a record that is too large.");
    }
    this.#reader.push(this.#keys.receive.decrypt(seq, payload));
  }

  #deliver(message: Buffer): void {
    if (!this.#queue.push(message)) {
      throw new RelayError("limit", "The other end sent more messages than this end could process.");
    }
  }

  async #close(): Promise<void> {
    if (!this.#queue.hasEnded) {
      this.#packer.flush();
      this.#sendReset();
      this.#finish(undefined);
    }
    await this.#link.release();
  }

  #sendReset(): void {
    const body = { kind: "reset", reason: RESET_REASON } as const;
    void this.#link.send(encodeFrame({ streamId: this.streamId, ack: 0, ackBits: 0, body }));
  }

  #finish(cause: Error | undefined, discard = false): void {
    if (this.#queue.hasEnded) return;
    this.#counters.streamsEnded += 1;
    this.#queue.end(cause, { discard });
    this.#reorder.clear();
    this.#keys.send.destroy();
    this.#keys.receive.destroy();
    void this.#link.release();
  }
}
