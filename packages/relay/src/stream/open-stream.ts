import { raceAbort, withTimeout } from "@codexkit/rpc/async";
import { randomUUID } from "node:crypto";
import { RelayError } from "../errors.ts";
import { decodeFrame } from "../frames/decode-frame.ts";
import { encodeFrame } from "../frames/encode-frame.ts";
import type { FrameBody, RelayFrame } from "../frames/frame.ts";
import { RELAY_LIMITS, type RelayLimits } from "../limits.ts";
import type { RelayIdentity, RelayPublicKey } from "../noise/identity.ts";
import { InitiatorHandshake } from "../noise/initiator.ts";
import { createCounters, type RelayCounters } from "./counters.ts";
import { EncryptedStream, type StreamLink } from "./encrypted-stream.ts";
import type { FrameChannel } from "./frame-channel.ts";
import type { RelayStream } from "./relay-stream.ts";

export interface OpenStreamOptions {
  readonly identity: RelayIdentity;
  /** The executor's public key, from the registry. */
  readonly executorKey: RelayPublicKey;
  readonly environmentId: string;
  readonly registrationId: string;
  /** The registry's authorization of this harness's key. Sent to the executor alone. */
  readonly authorization: string;
  /** Default: a random UUID. */
  readonly streamId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly limits?: Partial<RelayLimits> | undefined;
  readonly counters?: RelayCounters | undefined;
}

/**
 * Opens a stream to an executor, as a harness. Takes the channel over and closes it with the stream, or when this rejects:
 * with `protocol_violation`, `disconnected`, `timeout` or `aborted`.
 */
export async function openStream(channel: FrameChannel, options: OpenStreamOptions): Promise<RelayStream> {
  const opening = new StreamOpening(channel, options);
  try {
    return await raceAbort(opening.opened, options.signal, (signal) => {
      return new RelayError("aborted", "Opening the stream was aborted.", { cause: signal.reason });
    });
  } catch (error) {
    await channel.close();
    throw error;
  }
}

/** The harness's end of a channel: the handshake, and then the one stream that it carries. */
class StreamOpening {
  readonly opened: Promise<RelayStream>;
  readonly #channel: FrameChannel;
  readonly #options: OpenStreamOptions;
  readonly #limits: RelayLimits;
  readonly #counters: RelayCounters;
  readonly #streamId: string;
  readonly #handshake: InitiatorHandshake;
  readonly #opened = Promise.withResolvers<RelayStream>();
  #stream: EncryptedStream | undefined;

  constructor(channel: FrameChannel, options: OpenStreamOptions) {
    this.#channel = channel;
    this.#options = options;
    this.#limits = { ...RELAY_LIMITS, ...options.limits };
    this.#counters = options.counters ?? createCounters();
    this.#streamId = options.streamId ?? randomUUID();
    const { environmentId, registrationId } = options;
    const binding = { environmentId, registrationId, streamId: this.#streamId };
    this.#handshake = new InitiatorHandshake(options.identity, options.executorKey, binding);
    const { handshakeTimeoutMs } = this.#limits;
    this.opened = withTimeout(this.#opened.promise, handshakeTimeoutMs, () => {
      this.#handshake.destroy();
      return new RelayError("timeout", `The executor answered no handshake within ${handshakeTimeoutMs} ms.`);
    });
    const payload = this.#handshake.writeMessage1(options.authorization);
    channel.start({
      frame: (bytes) => this.#receive(bytes),
      closed: (cause) => this.#closed(cause),
    });
    this.#send({ kind: "resume", nextSeq: 0 });
    this.#send({ kind: "handshake", payload });
  }

  #send(body: FrameBody): void {
    void this.#channel.send(encodeFrame({ streamId: this.#streamId, ack: 0, ackBits: 0, body }));
  }

  #receive(bytes: Buffer): void {
    let frame: RelayFrame;
    try {
      frame = decodeFrame(bytes);
    } catch (error) {
      this.#counters.framesInvalid += 1;
      this.#fail(error as RelayError);
      return;
    }
    if (frame.streamId !== this.#streamId) this.#counters.framesInvalid += 1;
    else if (this.#stream) this.#stream.receive(frame);
    else this.#receiveAnswer(frame);
  }

  #receiveAnswer({ body }: RelayFrame): void {
    if (body.kind === "reset") this.#fail(new RelayError("refused", "The executor refused the stream."));
    else if (body.kind === "data")
      this.#fail(new RelayError("protocol_violation", "Received data before the handshake."));
    else if (body.kind === "handshake") this.#completeHandshake(body.payload);
  }

  #completeHandshake(message: Uint8Array): void {
    try {
      const keys = this.#handshake.readMessage2(message);
      this.#stream = new EncryptedStream({
        streamId: this.#streamId,
        remoteKey: this.#options.executorKey,
        keys,
        link: ownedLink(this.#channel),
        limits: { ...this.#limits, queuedMessages: Infinity },
        counters: this.#counters,
      });
      this.#opened.resolve(this.#stream);
    } catch (error) {
      this.#counters.handshakesFailed += 1;
      this.#fail(error as RelayError);
    }
  }

  #fail(error: RelayError): void {
    this.#handshake.destroy();
    if (this.#stream) this.#stream.fail(error);
    else this.#opened.reject(error);
  }

  #closed(cause: Error | undefined): void {
    this.#handshake.destroy();
    if (this.#stream) this.#stream.disconnected(cause);
    else {
      this.#opened.reject(
        new RelayError("disconnected", "The connection to the rendezvous ended during the handshake.", {
          cause,
        }),
      );
    }
  }
}

/** A channel that carries one stream: it is paused and closed with it. */
function ownedLink(channel: FrameChannel): StreamLink {
  return {
    send: (frame) => channel.send(frame),
    get bufferedBytes() {
      return channel.bufferedBytes;
    },
    setPaused: (isPaused) => (isPaused ? channel.pause() : channel.resume()),
    release: () => channel.close(),
  };
}
