import type { RelayLimits } from "../../limits.ts";
import type { RelayCounters } from "../counters.ts";
import { RetransmissionTimer } from "./retransmission-timer.ts";
import { SendBuffer } from "./send-buffer.ts";

export interface ReliableSenderOptions {
  readonly limits: RelayLimits;
  readonly counters: RelayCounters;
  /** Sends a frame over the current connection. A promise means that it reads slowly. */
  readonly transmit: (frame: Buffer) => Promise<void> | undefined;
  /** Called after frames were sent, with the bytes that still wait. */
  readonly onSent: (unsentBytes: number) => void;
  /** Called when nothing was acknowledged for the retransmission timeout, with the time at which frames began to wait. */
  readonly onTimeout: (waitingSince: number) => void;
}

/** Sends frames until the other end has acknowledged them. It can be suspended while there is no connection. */
export class ReliableSender {
  readonly #options: ReliableSenderOptions;
  readonly #buffer: SendBuffer;
  readonly #timer: RetransmissionTimer;
  #isSuspended = false;
  #isBlocked = false;
  #isStopped = false;
  #drained: PromiseWithResolvers<void> | undefined;
  /** When the first frame was sent after everything had been acknowledged. */
  #waitingSince = 0;

  constructor(options: ReliableSenderOptions) {
    this.#options = options;
    const { windowFrames, windowBytes } = options.limits;
    this.#buffer = new SendBuffer({ frames: windowFrames, bytes: windowBytes });
    this.#timer = new RetransmissionTimer(options.limits, () => this.#timedOut());
  }

  get unsentBytes(): number {
    return this.#buffer.unsentBytes;
  }

  push(frame: Buffer): void {
    if (this.#buffer.isEmpty) this.#waitingSince = performance.now();
    this.#buffer.push(frame);
    this.#pump();
  }

  /** Processes the acknowledgement in a frame of the other end. */
  acknowledge(ack: number, ackBits: number): void {
    const { isProgress, rttMs } = this.#buffer.acknowledge(ack, ackBits, performance.now());
    if (!isProgress) return;
    if (rttMs !== undefined) this.#timer.measured(rttMs);
    this.#timer.progressed();
    if (this.#buffer.isEmpty) this.#drained?.resolve();
    this.#pump();
  }

  /** Sends nothing more until `resume`. */
  suspend(): void {
    this.#isSuspended = true;
    this.#timer.stop();
  }

  /** Continues, on a new connection or after the other end lost its own: frames on their way may be lost. */
  resume(): void {
    this.#isSuspended = false;
    this.#isBlocked = false;
    this.#waitingSince = performance.now();
    this.#buffer.loseAll();
    this.#timer.progressed();
    this.#pump();
  }

  /** Sends everything that waits for the window, because no acknowledgement will come. */
  sendAll(): void {
    for (const frame of this.#buffer.takeUnsent()) void this.#options.transmit(frame);
  }

  /** Resolves once everything was acknowledged. */
  async drained(): Promise<void> {
    if (this.#buffer.isEmpty || this.#isStopped) return;
    this.#drained ??= Promise.withResolvers();
    await this.#drained.promise;
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer.stop();
    this.#drained?.resolve();
  }

  #pump(): void {
    while (!this.#isSuspended && !this.#isBlocked && !this.#isStopped) {
      const next = this.#buffer.take(performance.now());
      if (!next) break;
      if (next.isRetransmission) this.#options.counters.framesRetransmitted += 1;
      const blocked = this.#options.transmit(next.frame);
      if (blocked) void this.#waitFor(blocked);
    }
    if (this.#buffer.hasInFlight && !this.#isSuspended && !this.#isStopped) this.#timer.start();
    this.#options.onSent(this.#buffer.unsentBytes);
  }

  async #waitFor(blocked: Promise<void>): Promise<void> {
    this.#isBlocked = true;
    await blocked;
    this.#isBlocked = false;
    this.#pump();
  }

  #timedOut(): void {
    // A connection that accepts no data will deliver what it has. A second copy would only make it slower.
    if (!this.#isBlocked) this.#buffer.loseOldest();
    this.#options.onTimeout(this.#waitingSince);
    this.#pump();
  }
}
