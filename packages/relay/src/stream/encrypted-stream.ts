import { RpcError, type TransportReceiver } from "@codexkit/rpc";
import { withTimeout } from "@codexkit/rpc/async";
import { RelayError } from "../errors.ts";
import { encodeFrame } from "../frames/encode-frame.ts";
import { type DataBody, type FrameBody, type RelayFrame, RESET_REASON } from "../frames/frame.ts";
import type { RelayLimits } from "../limits.ts";
import type { RelayPublicKey } from "../noise/identity.ts";
import type { StreamKeys } from "../noise/transcript.ts";
import type { RelayCounters } from "./counters.ts";
import type { EncryptedStreamOptions, StreamLink } from "./encrypted-stream-options.ts";
import { MessageQueue, type MessageReceiver } from "./message-queue.ts";
import { END_RECORD, RecordReceiver } from "./record-receiver.ts";
import { type FrameState, RecordSender } from "./record-sender.ts";
import type { RelayStream } from "./relay-stream.ts";
import { AckScheduler } from "./reliability/ack-scheduler.ts";
import { Negotiation } from "./reliability/negotiation.ts";
import { ReliableSender } from "./reliability/reliable-sender.ts";
import { checkMessage, SenderGate } from "./sender-gate.ts";
import { StreamRecovery } from "./stream-recovery.ts";

/** One end of an established stream. Its owner passes the frames of the stream to `receive`. */
export class EncryptedStream implements RelayStream {
  readonly streamId: string;
  readonly remoteKey: RelayPublicKey;
  readonly #options: EncryptedStreamOptions;
  readonly #keys: StreamKeys;
  readonly #limits: RelayLimits;
  readonly #counters: RelayCounters;
  readonly #records: RecordSender;
  readonly #receiver: RecordReceiver;
  readonly #queue: MessageQueue;
  readonly #acks: AckScheduler;
  readonly #recovery: StreamRecovery;
  readonly #negotiation: Negotiation;
  readonly #gate = new SenderGate();
  #link: StreamLink | undefined;
  /** Retransmits. Present in the modes `offering` and `reliable`. */
  #sender: ReliableSender | undefined;
  #lastHeardAt = performance.now();
  #hasRefusedData = false;
  #isFlushScheduled = false;
  #closing: Promise<void> | undefined;

  constructor(options: EncryptedStreamOptions) {
    const { streamId, limits, keys, role, isReliabilityEnabled } = options;
    this.streamId = streamId;
    this.remoteKey = options.remoteKey;
    this.#options = options;
    this.#keys = keys;
    this.#link = options.link;
    this.#limits = limits;
    this.#counters = options.counters;
    this.#records = new RecordSender(
      streamId,
      keys.send,
      limits.recordBytes,
      () => this.#frameState(),
      (frame) => this.#sendFrame(frame),
    );
    this.#receiver = new RecordReceiver(keys.receive, limits, {
      onMessage: (message) => this.#deliver(message),
      onForged: () => {
        this.#counters.framesInvalid += 1;
      },
      onEnd: () => this.#otherEndClosed(),
    });
    this.#queue = new MessageQueue(limits);
    this.#acks = new AckScheduler(limits, () => this.#sendControl({ kind: "ack" }));
    this.#recovery = new StreamRecovery(limits, {
      onRetry: () => this.#sendResume(),
      onHopeless: () => void this.#link?.close(),
      onUnknown: () =>
        this.#finish(new RelayError("disconnected", "The other end no longer has the stream.")),
      onTimeout: () =>
        this.#finish(new RelayError("disconnected", "The stream could not be resumed in time.")),
    });
    const initial = role === "executor" ? "accepting" : "offering";
    this.#negotiation = new Negotiation(isReliabilityEnabled ? initial : "plain", (mode) =>
      this.#decided(mode),
    );
    if (this.#negotiation.mode === "offering") this.#sender = this.#createSender();
    this.#counters.streamsOpened += 1;
  }

  get isResumable(): boolean {
    return this.#negotiation.mode === "reliable";
  }

  /** Whether the stream waits for its other end to resume it. */
  get isSuspended(): boolean {
    return this.#recovery.isActive;
  }

  get hasEnded(): boolean {
    return this.#queue.hasEnded;
  }

  get bufferedBytes(): number {
    const unsent = this.#sender?.unsentBytes ?? 0;
    return this.#records.pendingBytes + unsent + (this.#link?.bufferedBytes ?? 0);
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
    if (this.hasEnded || this.#closing) throw new RpcError("closed", "The stream is closed.");
    const content = this.#negotiation.prepare(message);
    const length = typeof content === "string" ? Buffer.byteLength(content) : content.length;
    checkMessage(length, this.bufferedBytes, this.#limits);
    this.#endAtLimit(() => this.#records.add(content, length));
    this.#negotiation.sent();
    this.#scheduleFlush();
    return this.#gate.promise;
  }

  flush(): void {
    if (!this.hasEnded) this.#endAtLimit(() => this.#records.flush());
  }

  pause(): void {
    this.#queue.pause();
    // A reliable stream must read acknowledgements; it refuses further data instead.
    if (!this.isResumable) this.#link?.setPaused(true);
  }

  resume(): void {
    this.#queue.resume();
    this.#link?.setPaused(false);
    if (!this.#hasRefusedData) return;
    this.#hasRefusedData = false;
    this.#sendResume();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Processes a frame of this stream. */
  receive(frame: RelayFrame): void {
    if (this.hasEnded) return;
    const { body } = frame;
    if (body.kind === "handshake") {
      this.fail();
      return;
    }
    if (body.kind === "reset") {
      this.#receiveReset();
      return;
    }
    this.#lastHeardAt = performance.now();
    const wasReliable = this.isResumable;
    if (wasReliable) this.#receiveControl(frame);
    if (body.kind === "data") this.#receiveData(body);
    // The executor's acceptance acknowledges the offer.
    if (!wasReliable && this.isResumable) this.#sender?.acknowledge(frame.ack, frame.ackBits);
  }

  /** The connection was lost. A reliable stream waits for `attach`. */
  disconnected(cause: Error | undefined): void {
    if (this.hasEnded) return;
    this.#link = undefined;
    if (!this.isResumable || !this.#options.canReconnect) {
      this.#finish(new RelayError("disconnected", "The connection to the rendezvous ended.", { cause }));
      return;
    }
    this.#suspend();
    this.#recovery.disconnected();
  }

  /** Continues a reliable stream over a new connection. */
  attach(link: StreamLink): void {
    if (this.hasEnded) return;
    this.#link = link;
    this.#suspend();
    this.#recovery.connected();
  }

  /** Ends the stream without its other end, which can no longer be reached. */
  giveUp(cause: RelayError): void {
    this.#finish(cause);
  }

  /** Resets the stream because the other end violated the protocol. */
  fail(cause = new RelayError("protocol_violation", "The other end violated the relay protocol.")): void {
    if (this.hasEnded) return;
    this.#counters.streamsReset += 1;
    this.#sendReset();
    this.#finish(cause, true);
  }

  #createSender(): ReliableSender {
    return new ReliableSender({
      limits: this.#limits,
      counters: this.#counters,
      transmit: (frame) => this.#link?.send(frame),
      onSent: (unsentBytes) => unsentBytes <= this.#limits.highWaterBytes / 2 && this.#gate.open(),
      onTimeout: (waitingSince) => this.#checkSilence(waitingSince),
    });
  }

  #decided(mode: "plain" | "reliable"): void {
    if (mode === "reliable") {
      this.#receiver.isReliable = true;
      this.#sender ??= this.#createSender();
      // No record of that number exists yet: what was sent before the agreement is limited by `bufferedBytes`.
      const { rekeyRecords } = this.#limits;
      for (const key of [this.#keys.send, this.#keys.receive]) key.rekeyEvery(rekeyRecords);
      return;
    }
    this.#sender?.sendAll();
    this.#sender?.stop();
    this.#sender = undefined;
    this.#gate.open();
  }

  /** Ends the stream if it has used up all record numbers. */
  #endAtLimit(sendRecords: () => void): void {
    try {
      sendRecords();
    } catch (error) {
      this.fail(error as RelayError);
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

  /** The first message has no segments: the other end reads it before it knows of the agreement. */
  #frameState(): FrameState {
    if (!this.isResumable) return { ack: 0, ackBits: 0, hasSegments: false };
    const { ack, ackBits } = this.#receiver;
    return { ack, ackBits, hasSegments: this.#negotiation.hasSent };
  }

  #sendFrame(frame: Buffer): void {
    if (!this.#sender) {
      this.#gate.closeUntil(this.#link?.send(frame));
      return;
    }
    this.#sender.push(frame);
    if (this.#sender.unsentBytes === 0) this.#acks.clear();
    else if (this.#sender.unsentBytes > this.#limits.highWaterBytes) this.#gate.close();
  }

  #receiveReset(): void {
    if (!this.isResumable) {
      // Anyone on the way can forge a reset. A harness that did not send it would wait forever.
      if (this.#options.role === "executor") this.#sendReset();
      this.#finish(new RelayError("disconnected", "The other end ended the stream."));
    } else if (this.#closing) this.#finish(undefined);
    else {
      // Nothing proves that the other end sent it. A rendezvous sends one as well when a connection is lost.
      this.#suspend();
      if (this.#options.role === "harness") this.#recovery.wasReset();
    }
  }

  /** Acknowledgements and resumption. */
  #receiveControl({ ack, ackBits, body }: RelayFrame): void {
    const isResumed = this.#recovery.isActive;
    if (isResumed) {
      this.#recovery.end();
      this.#counters.streamsResumed += 1;
    }
    this.#sender?.acknowledge(ack, ackBits);
    if (body.kind === "resume") this.#sendControl({ kind: "ack" });
    if (isResumed || body.kind === "resume") this.#sender?.resume();
  }

  #receiveData(data: DataBody): void {
    if (this.isResumable && this.#queue.queuedBytes >= this.#limits.windowBytes) {
      // Not acknowledged, so that it is sent again.
      this.#hasRefusedData = true;
      this.#acks.received(0, { isUrgent: true });
      return;
    }
    try {
      const result = this.#receiver.receive(data);
      if (this.hasEnded) return;
      if (result === "duplicate") this.#counters.framesDuplicate += 1;
      if (this.isResumable) {
        const isUrgent = result !== "accepted" || this.#receiver.hasGap;
        this.#acks.received(data.payload.length, { isUrgent });
      } else if (result === "full") {
        throw new RelayError("protocol_violation", "Too many records arrived out of order.");
      }
    } catch (error) {
      this.fail(error as RelayError);
    }
  }

  #deliver(message: Buffer): void {
    if (this.hasEnded) return;
    const content = this.#negotiation.receive(message);
    if (!this.#queue.push(content, { isBounded: !this.isResumable })) {
      throw new RelayError("limit", "The other end sent more messages than this end could process.");
    }
  }

  #suspend(): void {
    this.#recovery.begin();
    this.#sender?.suspend();
    this.#acks.clear();
  }

  /** Ends the stream if the other end does not answer for the same time, although the connection seems to work. */
  #checkSilence(waitingSince: number): void {
    const silentMs = performance.now() - Math.max(this.#lastHeardAt, waitingSince);
    if (silentMs < this.#limits.resumeTimeoutMs) return;
    this.#finish(new RelayError("disconnected", "The other end has not answered for too long."));
  }

  #otherEndClosed(): void {
    this.#sendControl({ kind: "ack" });
    this.#sendReset();
    this.#finish(undefined);
  }

  async #close(): Promise<void> {
    if (!this.hasEnded) {
      this.flush();
      if (this.isResumable) await this.#closeReliably();
      this.#sendReset();
      const link = this.#link;
      this.#finish(undefined);
      await link?.close();
    }
  }

  /** Waits until the other end has everything, or for as long as a close may take. */
  async #closeReliably(): Promise<void> {
    this.#endAtLimit(() => this.#records.sendRecord(END_RECORD));
    const drained = this.#sender?.drained() ?? Promise.resolve();
    await withTimeout(drained, this.#limits.closeTimeoutMs, () => new Error("timeout")).catch(() => {});
  }

  #sendReset(): void {
    this.#sendControl({ kind: "reset", reason: RESET_REASON });
  }

  #sendResume(): void {
    this.#sendControl({ kind: "resume", nextSeq: this.#keys.send.nextNonce });
  }

  #sendControl(body: FrameBody): void {
    const { streamId } = this;
    const { ack, ackBits } = this.#frameState();
    void this.#link?.send(encodeFrame({ streamId, ack, ackBits, body }));
  }

  #finish(cause: Error | undefined, discard = false): void {
    if (this.hasEnded) return;
    this.#counters.streamsEnded += 1;
    this.#queue.end(cause, { discard });
    this.#receiver.clear();
    this.#acks.clear();
    this.#recovery.end();
    this.#sender?.stop();
    this.#keys.send.destroy();
    this.#keys.receive.destroy();
    this.#gate.open();
    void this.#link?.close();
    this.#link = undefined;
    this.#options.onEnd();
  }
}
