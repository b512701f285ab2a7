import type { Backpressure } from "./backpressure.ts";
import type { CodexEvent } from "./event.ts";

export const LOSSLESS_LIMITS = {
  /**
   * Number of unread events at which reading from the server pauses. Messages that were already read are still
   * delivered: a few hundred more events.
   */
  unreadEvents: 1_000,
} as const;

/** Unread events of a lossless reader, unmerged. */
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

  /** Removes and returns all unread events, oldest first. Reading resumes while the reader processes them. */
  takeAll(): CodexEvent[] {
    const events = this.#events;
    this.#events = [];
    this.#backpressure.release(this);
    return events;
  }

  /** Ends the backpressure of a reader that has returned. */
  close(): void {
    this.#isClosed = true;
    this.#backpressure.release(this);
  }
}
