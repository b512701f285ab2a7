import { decodeFrame } from "../src/frames/decode-frame.ts";
import { encodeFrame } from "../src/frames/encode-frame.ts";
import type { FrameBody, RelayFrame } from "../src/frames/frame.ts";
import { InitiatorHandshake } from "../src/noise/initiator.ts";
import type { StreamKeys } from "../src/noise/transcript.ts";
import type { MemoryChannel } from "./memory-channel.ts";
import { AUTHORIZATION, ENVIRONMENT_ID, EXECUTOR, HARNESS, REGISTRATION_ID } from "./stream-pair.ts";

/** A harness, or several behind one rendezvous, that sends whatever a test wants. */
export class RawHarness {
  readonly received: RelayFrame[] = [];
  readonly closed: Promise<Error | undefined>;
  readonly #channel: MemoryChannel;
  #wake: (() => void) | undefined;

  constructor(channel: MemoryChannel) {
    this.#channel = channel;
    this.closed = new Promise((resolve) => {
      channel.start({
        frame: (bytes) => {
          this.received.push(decodeFrame(bytes));
          this.#wake?.();
        },
        closed: resolve,
      });
    });
  }

  send(streamId: string, body: FrameBody): void {
    void this.#channel.send(encodeFrame({ streamId, ack: 0, ackBits: 0, body }));
  }

  sendBytes(bytes: Buffer): void {
    void this.#channel.send(bytes);
  }

  /** Removes and returns the next frame that was received for a stream. */
  async next(streamId: string): Promise<FrameBody> {
    for (;;) {
      const frame = this.received.find((received) => received.streamId === streamId);
      if (frame) {
        this.received.splice(this.received.indexOf(frame), 1);
        return frame.body;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Starts a handshake with a valid first message. */
  startHandshake(streamId: string, authorization = AUTHORIZATION): InitiatorHandshake {
    const handshake = new InitiatorHandshake(HARNESS, EXECUTOR.publicKey, binding(streamId));
    this.send(streamId, { kind: "handshake", payload: handshake.writeMessage1(authorization) });
    return handshake;
  }

  /** Establishes a stream. */
  async open(streamId: string): Promise<StreamKeys> {
    const handshake = this.startHandshake(streamId);
    const answer = await this.next(streamId);
    if (answer.kind !== "handshake") throw new Error(`The handshake was answered with ${answer.kind}.`);
    return handshake.readMessage2(answer.payload);
  }

  /** Sends a record with any content. */
  sendRecord(streamId: string, keys: StreamKeys, plaintext: Uint8Array, seq = keys.send.nextNonce): void {
    this.send(streamId, {
      kind: "data",
      seq,
      segmentIndex: 0,
      segmentCount: 1,
      payload: keys.send.encrypt(plaintext),
    });
  }
}

export function binding(streamId: string) {
  return { environmentId: ENVIRONMENT_ID, registrationId: REGISTRATION_ID, streamId };
}

/** A message as it is inside a record. */
export function framed(text: string): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(4), Buffer.from(text)]);
  bytes.writeUInt32BE(bytes.length - 4);
  return bytes;
}
