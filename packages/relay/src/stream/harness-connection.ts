import { withTimeout } from "@codexkit/rpc/async";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { RelayError, type RelayErrorCode } from "../errors.ts";
import { decodeFrame } from "../frames/decode-frame.ts";
import { encodeFrame } from "../frames/encode-frame.ts";
import type { FrameBody, RelayFrame } from "../frames/frame.ts";
import { RELAY_LIMITS, type RelayLimits } from "../limits.ts";
import { InitiatorHandshake } from "../noise/initiator.ts";
import { createCounters, type RelayCounters } from "./counters.ts";
import type { StreamLink } from "./encrypted-stream-options.ts";
import { EncryptedStream } from "./encrypted-stream.ts";
import type { FrameChannel } from "./frame-channel.ts";
import type { OpenStreamOptions } from "./open-stream-options.ts";
import type { RelayStream } from "./relay-stream.ts";

/** Error codes after which a later connection may succeed. */
const RETRYABLE: ReadonlySet<RelayErrorCode> = new Set([
  "connect_failed",
  "disconnected",
  "environment_offline",
  "timeout",
]);

/** The harness's end of a connection: the handshake, then the one stream that it carries, over one channel after another. */
export class HarnessConnection {
  readonly opened: Promise<RelayStream>;
  readonly #options: OpenStreamOptions;
  readonly #limits: RelayLimits;
  readonly #counters: RelayCounters;
  readonly #streamId: string;
  /** Undefined once it has completed or failed. */
  #handshake: InitiatorHandshake | undefined;
  readonly #opened = Promise.withResolvers<RelayStream>();
  readonly #ended = new AbortController();
  #channel: FrameChannel;
  #stream: EncryptedStream | undefined;

  /** Throws, without having used the channel, if the key or the authorization from the registry can't be used. */
  constructor(channel: FrameChannel, options: OpenStreamOptions) {
    this.#channel = channel;
    this.#options = options;
    this.#limits = { ...RELAY_LIMITS, ...options.limits };
    this.#counters = options.counters ?? createCounters();
    this.#streamId = options.streamId ?? randomUUID();
    const { environmentId, registrationId } = options;
    const binding = { environmentId, registrationId, streamId: this.#streamId };
    this.#handshake = new InitiatorHandshake(options.identity, options.executorKey, binding);
    const payload = this.#writeMessage1(this.#handshake);
    const { handshakeTimeoutMs } = this.#limits;
    this.opened = withTimeout(this.#opened.promise, handshakeTimeoutMs, () => {
      this.#endHandshake();
      return new RelayError("timeout", `The executor answered no handshake within ${handshakeTimeoutMs} ms.`);
    });
    this.#use(channel);
    this.#send({ kind: "resume", nextSeq: 0 });
    this.#send({ kind: "handshake", payload });
  }

  #writeMessage1(handshake: InitiatorHandshake): Buffer {
    try {
      return handshake.writeMessage1(this.#options.authorization);
    } catch (error) {
      this.#counters.handshakesFailed += 1;
      this.#endHandshake();
      throw error;
    }
  }

  /** Drops the private keys of the handshake, so that they are not kept for as long as the stream. */
  #endHandshake(): void {
    this.#handshake?.destroy();
    this.#handshake = undefined;
  }

  #use(channel: FrameChannel): void {
    this.#channel = channel;
    // Frames of a replaced channel are ignored.
    channel.start({
      frame: (bytes) => this.#channel === channel && this.#receive(bytes),
      closed: (cause) => this.#channel === channel && this.#closed(cause),
    });
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
    else if (body.kind === "data") {
      this.#fail(new RelayError("protocol_violation", "Received data before the handshake."));
    } else if (body.kind === "handshake" && this.#handshake) {
      this.#completeHandshake(this.#handshake, body.payload);
    }
  }

  #completeHandshake(handshake: InitiatorHandshake, message: Uint8Array): void {
    try {
      const keys = handshake.readMessage2(message);
      this.#endHandshake();
      this.#stream = new EncryptedStream({
        role: "harness",
        streamId: this.#streamId,
        remoteKey: this.#options.executorKey,
        keys,
        link: ownedLink(this.#channel),
        isReliabilityEnabled: this.#options.reliability ?? true,
        canReconnect: this.#options.reconnect !== undefined,
        // A paused reader pauses the whole connection instead.
        limits: { ...this.#limits, queuedMessages: Infinity },
        counters: this.#counters,
        onEnd: () => this.#ended.abort(),
      });
      this.#opened.resolve(this.#stream);
    } catch (error) {
      this.#counters.handshakesFailed += 1;
      this.#fail(error as RelayError);
    }
  }

  #fail(error: RelayError): void {
    this.#endHandshake();
    if (this.#stream) this.#stream.fail(error);
    else this.#opened.reject(error);
  }

  #closed(cause: Error | undefined): void {
    this.#endHandshake();
    const stream = this.#stream;
    if (!stream) {
      const text = "The connection to the rendezvous ended during the handshake.";
      this.#opened.reject(new RelayError("disconnected", text, { cause }));
      return;
    }
    stream.disconnected(cause);
    if (!stream.hasEnded) void this.#reconnect(stream);
  }

  /** Tries until the stream gives up. */
  async #reconnect(stream: EncryptedStream): Promise<void> {
    const { resumeRetryMs, maxResumeRetryMs } = this.#limits;
    for (let delayMs = resumeRetryMs; !stream.hasEnded; delayMs = Math.min(delayMs * 2, maxResumeRetryMs)) {
      const channel = await this.#dial(stream);
      if (channel && !stream.hasEnded) {
        this.#use(channel);
        stream.attach(ownedLink(channel));
        return;
      }
      await channel?.close();
      // Jitter: many harnesses lose the same rendezvous at the same moment.
      const pauseMs = delayMs * (1 + Math.random() / 2);
      await delay(pauseMs, undefined, { signal: this.#ended.signal, ref: false }).catch(() => {});
    }
  }

  async #dial(stream: EncryptedStream): Promise<FrameChannel | undefined> {
    try {
      return await this.#options.reconnect?.(this.#ended.signal);
    } catch (error) {
      if (!RelayError.is(error) || !RETRYABLE.has(error.code)) {
        const text = "The stream could not be resumed: connecting again was refused.";
        stream.giveUp(new RelayError("disconnected", text, { cause: error }));
      }
      return undefined;
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
    close: () => channel.close(),
  };
}
