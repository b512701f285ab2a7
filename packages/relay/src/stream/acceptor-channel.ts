import { raceAbort, TokenBucket, withTimeout } from "@codexkit/rpc/async";
import { RelayError } from "../errors.ts";
import { decodeFrame } from "../frames/decode-frame.ts";
import { encodeFrame } from "../frames/encode-frame.ts";
import { type FrameBody, type RelayFrame, RESET_REASON } from "../frames/frame.ts";
import { isSamePublicKey } from "../noise/identity.ts";
import { type HarnessClaim, ResponderHandshake } from "../noise/responder.ts";
import type { HarnessVerdict } from "../registry-client/registry-client.ts";
import type { StreamLink } from "./encrypted-stream-options.ts";
import { EncryptedStream } from "./encrypted-stream.ts";
import type { FrameChannel } from "./frame-channel.ts";
import type { AcceptedStream, AcceptorContext } from "./acceptor-options.ts";

/** One connection of a `StreamAcceptor`. */
export class AcceptorChannel {
  readonly closed: Promise<Error | undefined>;
  readonly #channel: FrameChannel;
  readonly #registrationId: string;
  readonly #context: AcceptorContext;
  readonly #closed = Promise.withResolvers<Error | undefined>();
  readonly #validations = new Map<string, AbortController>();
  readonly #failures: TokenBucket;
  #hasClosed = false;

  constructor(channel: FrameChannel, registrationId: string, context: AcceptorContext) {
    this.#channel = channel;
    this.#registrationId = registrationId;
    this.#context = context;
    this.closed = this.#closed.promise;
    const { failedHandshakes, failedHandshakesMs } = context.limits;
    // All harnesses share this connection, so failures of the past must not add up.
    this.#failures = new TokenBucket({
      perSecond: (failedHandshakes * 1000) / failedHandshakesMs,
      // The last of them overdraws it.
      burst: failedHandshakes - 1,
    });
    channel.start({
      frame: (bytes) => this.#receive(bytes),
      closed: (cause) => this.#finish(cause),
    });
    this.adoptDetached();
  }

  /** Continues the reliable streams that have no connection on this one. */
  adoptDetached(): void {
    for (const accepted of this.#context.streams.values()) if (!accepted.channel) this.#adopt(accepted);
  }

  close(): Promise<void> {
    return this.#channel.close();
  }

  #receive(bytes: Buffer): void {
    if (this.#hasClosed) return;
    let frame: RelayFrame;
    try {
      frame = decodeFrame(bytes);
    } catch {
      this.#context.counters.framesInvalid += 1;
      this.#countFailure();
      return;
    }
    const { streamId, body } = frame;
    const accepted = this.#context.streams.get(streamId);
    if (body.kind === "handshake") this.#receiveHandshake(streamId, body.payload);
    else if (!accepted) this.#receiveStray(streamId, body);
    else {
      // The harness of a reliable stream has reconnected over another connection, and resumes the stream.
      if (accepted.channel !== this && body.kind === "resume" && accepted.stream.isResumable)
        this.#adopt(accepted);
      if (accepted.channel === this) accepted.stream.receive(frame);
    }
  }

  /** Continues a reliable stream on this connection. */
  #adopt(accepted: AcceptedStream): void {
    accepted.channel = this;
    accepted.stream.attach(this.#link());
  }

  /** Handles a frame of a stream that is not established. Only data is answered. */
  #receiveStray(streamId: string, body: FrameBody): void {
    if (body.kind === "reset") this.#cancelValidation(streamId);
    // The frame is of a reliable stream that this executor no longer has. The first frame of a new stream has number 0.
    if (body.kind === "resume" && body.nextSeq > 0) this.#sendReset(streamId);
    if (body.kind !== "data") return;
    this.#context.counters.framesInvalid += 1;
    if (this.#context.endedStreams.has(streamId)) return;
    this.#refuse(streamId);
  }

  #receiveHandshake(streamId: string, message: Uint8Array): void {
    const { limits, counters, streams, endedStreams, options } = this.#context;
    // A handshake for a stream that has ended is a replay: harnesses choose a new ID for each stream.
    if (streams.has(streamId) || endedStreams.has(streamId) || this.#validations.has(streamId)) {
      this.#refuse(streamId);
      return;
    }
    const isFull =
      streams.size + this.#context.pendingValidations >= limits.activeStreams ||
      this.#context.pendingValidations >= limits.pendingValidations;
    if (isFull) {
      counters.handshakesOverLimit += 1;
      this.#sendReset(streamId);
      return;
    }
    const { environmentId } = options;
    const binding = { environmentId, registrationId: this.#registrationId, streamId };
    const handshake = new ResponderHandshake(options.identity, binding);
    try {
      const claim = handshake.readMessage1(message);
      void this.#validate(streamId, handshake, claim);
    } catch {
      this.#refuse(streamId);
    }
  }

  async #validate(streamId: string, handshake: ResponderHandshake, claim: HarnessClaim): Promise<void> {
    const abort = new AbortController();
    this.#validations.set(streamId, abort);
    this.#context.pendingValidations += 1;
    const verdict = await this.#ask(streamId, claim, abort);
    this.#context.pendingValidations -= 1;
    // A frame that arrived in the meantime may already have refused the handshake.
    const isCurrent = this.#validations.get(streamId) === abort;
    if (isCurrent) this.#validations.delete(streamId);
    if (verdict.isValid && isCurrent && !abort.signal.aborted && !this.#hasClosed) {
      this.#establish(streamId, handshake, claim, verdict);
      return;
    }
    handshake.destroy();
    if (!isCurrent) return;
    this.#context.counters.handshakesUnauthorized += 1;
    this.#sendReset(streamId);
    this.#countFailure();
  }

  async #ask(streamId: string, claim: HarnessClaim, abort: AbortController): Promise<HarnessVerdict> {
    const { options, limits } = this.#context;
    const request = { ...claim, streamId, registrationId: this.#registrationId, signal: abort.signal };
    try {
      const answer = withTimeout(options.validate(request), limits.validationTimeoutMs, () => {
        abort.abort();
        return new RelayError("timeout", "The validation timed out.");
      });
      return await raceAbort(answer, abort.signal);
    } catch {
      return { isValid: false };
    }
  }

  #establish(
    streamId: string,
    handshake: ResponderHandshake,
    { harnessKey }: HarnessClaim,
    verdict: HarnessVerdict,
  ): void {
    const { limits, counters, streams, endedStreams, options } = this.#context;
    const { message, keys } = handshake.writeMessage2();
    this.#send(streamId, { kind: "handshake", payload: message });
    // The harness has proven that it owns the key, and a harness opens a new stream only after the end of its last one. The
    // executor may have missed that end: a reset can be forged. A suspended stream would keep its session attached, and the
    // harness could not resume the session.
    for (const { stream } of streams.values()) {
      if (!stream.isSuspended || !isSamePublicKey(stream.remoteKey, harnessKey)) continue;
      stream.giveUp(new RelayError("disconnected", "The harness has opened a new stream instead."));
    }
    const stream = new EncryptedStream({
      role: "executor",
      streamId,
      remoteKey: harnessKey,
      keys,
      link: this.#link(),
      isReliabilityEnabled: options.reliability ?? true,
      canReconnect: true,
      limits,
      counters,
      onEnd: () => {
        streams.delete(streamId);
        endedStreams.add(streamId);
      },
    });
    streams.set(streamId, { stream, channel: this });
    options.onStream(stream, verdict);
  }

  /** A stream can't pause or close the connection, because it carries other streams too. */
  #link(): StreamLink {
    const channel = this.#channel;
    return {
      send: (frame) => channel.send(frame),
      get bufferedBytes() {
        return channel.bufferedBytes;
      },
      setPaused: () => {},
      close: () => Promise.resolve(),
    };
  }

  /** Answers a violation. An established stream of the same ID is not affected. */
  #refuse(streamId: string): void {
    this.#context.counters.handshakesFailed += 1;
    this.#cancelValidation(streamId);
    this.#sendReset(streamId);
    this.#countFailure();
  }

  #cancelValidation(streamId: string): void {
    const validation = this.#validations.get(streamId);
    this.#validations.delete(streamId);
    validation?.abort();
  }

  #countFailure(): void {
    if (this.#failures.take(1) === 0 || this.#hasClosed) return;
    this.#finish(new RelayError("limit", "Too many handshakes failed on this connection."));
    void this.#channel.close();
  }

  #sendReset(streamId: string): void {
    this.#send(streamId, { kind: "reset", reason: RESET_REASON });
  }

  #send(streamId: string, body: FrameBody): void {
    if (!this.#hasClosed) void this.#channel.send(encodeFrame({ streamId, ack: 0, ackBits: 0, body }));
  }

  #finish(cause: Error | undefined): void {
    if (this.#hasClosed) return;
    this.#hasClosed = true;
    for (const streamId of this.#validations.keys()) this.#cancelValidation(streamId);
    for (const accepted of this.#context.streams.values()) {
      if (accepted.channel !== this) continue;
      accepted.channel = undefined;
      accepted.stream.disconnected(cause);
    }
    this.#closed.resolve(cause);
  }
}
