import type { Backpressure } from "./backpressure.ts";
import type { CodexEvent } from "./event.ts";

export const LOSSLESS_LIMITS = {
  /**
   * Unread events from which on nothing more is read from the server. What one read of its stdout brought is still
   * delivered: some hundred events more.
   */
  unreadEvents: 1_000,
} as const;

/** The events that a lossless reader has not read yet: every one, as it came. */
export class LosslessQueue {
  readonly #backpressure: Backpressure;
  #events: CodexEvent[] = [];
  #isClosed = false;

  constructor(backpressure: Backpressure) {
    this.#backpressure = backpressure;
  }

  get size(): number {
    return this.#events.length;
  }

  push(event: CodexEvent): void {
    this.#events.push(event);
    if (this.#events.length >= LOSSLESS_LIMITS.unreadEvents && !this.#isClosed) this.#backpressure.hold(this);
  }

  /** Everything unread, oldest first. The reader works through it while more is read from the server. */
  takeAll(): CodexEvent[] {
    const events = this.#events;
    this.#events = [];
    this.#backpressure.release(this);
    return events;
  }

  /** The reader left: it holds nothing up any more. */
  close(): void {
    this.#isClosed = true;
    this.#backpressure.release(this);
  }
}
