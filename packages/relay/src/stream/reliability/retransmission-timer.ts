import { timerDelay } from "@codexkit/rpc/async";

export interface RetransmissionLimits {
  /** Time before the first retransmission while no round trip was measured. */
  readonly initialRetransmitMs: number;
  readonly minRetransmitMs: number;
  readonly maxRetransmitMs: number;
}

/** The retransmission timeout of RFC 6298: from measured round trips, doubled with each timeout in a row. */
export class RetransmissionTimer {
  readonly #limits: RetransmissionLimits;
  readonly #onTimeout: () => void;
  #timer: NodeJS.Timeout | undefined;
  #smoothedMs: number | undefined;
  #variationMs = 0;
  #timeouts = 0;

  constructor(limits: RetransmissionLimits, onTimeout: () => void) {
    this.#limits = limits;
    this.#onTimeout = onTimeout;
  }

  get timeoutMs(): number {
    const { initialRetransmitMs, minRetransmitMs, maxRetransmitMs } = this.#limits;
    const base =
      this.#smoothedMs === undefined
        ? initialRetransmitMs
        : Math.max(minRetransmitMs, this.#smoothedMs + 4 * this.#variationMs);
    return Math.min(base * 2 ** Math.min(this.#timeouts, 16), maxRetransmitMs);
  }

  measured(rttMs: number): void {
    if (this.#smoothedMs === undefined) {
      this.#smoothedMs = rttMs;
      this.#variationMs = rttMs / 2;
      return;
    }
    this.#variationMs += (Math.abs(this.#smoothedMs - rttMs) - this.#variationMs) / 4;
    this.#smoothedMs += (rttMs - this.#smoothedMs) / 8;
  }

  /** Call when the other end has acknowledged a frame. Resets the doubling of the timeout. */
  progressed(): void {
    this.#timeouts = 0;
    this.stop();
  }

  /** Starts the timer unless it is running. */
  start(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#timeouts += 1;
      this.#onTimeout();
    }, timerDelay(this.timeoutMs)).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
