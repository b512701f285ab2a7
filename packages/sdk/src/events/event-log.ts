import type { Backpressure } from "./backpressure.ts";
import type { CodexEvent } from "./event.ts";
import { EventQueue } from "./event-queue.ts";
import { LosslessQueue } from "./lossless-queue.ts";

export interface EventLogOptions {
  /** Whether a late reader gets all events from the start. */
  readonly history: boolean;
  /** Called when the last reader returns. */
  readonly onEmpty?: () => void;
}

/** Unread events of one reader. */
interface Unread {
  readonly size: number;
  push(event: CodexEvent): void;
  takeAll(): CodexEvent[];
}

/**
 * A stream of events for any number of readers, each at its own pace. With a history, a late reader gets everything
 * from the start, with deltas merged; without one, it gets later events only.
 */
export class EventLog {
  readonly #history: EventQueue | undefined;
  readonly #readers = new Set<Reader>();
  readonly #onEmpty: () => void;
  #hasEnded = false;

  constructor({ history, onEmpty = () => {} }: EventLogOptions) {
    this.#history = history ? new EventQueue() : undefined;
    this.#onEmpty = onEmpty;
  }

  push(event: CodexEvent): void {
    if (this.#hasEnded) return;
    this.#history?.push(event);
    for (const reader of this.#readers) reader.push(event);
  }

  /** Ends the stream. Readers still get their unread events. */
  end(): void {
    this.#hasEnded = true;
    for (const reader of this.#readers) reader.end();
    this.#readers.clear();
  }

  /**
   * Reads later events, or all of them with a history. A slow reader gets merged deltas, and beyond a limit a gap.
   * @param earlier Events to read first.
   */
  read(earlier: readonly CodexEvent[] = []): AsyncIterableIterator<CodexEvent, undefined, undefined> {
    const unread = this.#history?.copy() ?? new EventQueue();
    for (const event of earlier) unread.push(event);
    return this.#open(unread);
  }

  /** Reads every later event unmerged. A slow reader applies backpressure instead of losing events. */
  readLossless(backpressure: Backpressure): AsyncIterableIterator<CodexEvent, undefined, undefined> {
    const queue = new LosslessQueue(backpressure);
    return this.#open(queue, () => queue.close());
  }

  #open(
    unread: Unread,
    onReturn: () => void = () => {},
  ): AsyncIterableIterator<CodexEvent, undefined, undefined> {
    const reader = new Reader(unread, () => {
      onReturn();
      if (this.#readers.delete(reader) && this.#readers.size === 0) this.#onEmpty();
    });
    if (this.#hasEnded) reader.end();
    else this.#readers.add(reader);
    return reader;
  }
}

class Reader implements AsyncIterableIterator<CodexEvent, undefined, undefined> {
  readonly #unread: Unread;
  readonly #onReturn: () => void;
  #batch: CodexEvent[] = [];
  #next = 0;
  readonly #waiting: ((result: IteratorResult<CodexEvent, undefined>) => void)[] = [];
  #hasEnded = false;

  constructor(unread: Unread, onReturn: () => void) {
    this.#unread = unread;
    this.#onReturn = onReturn;
  }

  push(event: CodexEvent): void {
    const waiting = this.#waiting.shift();
    if (waiting) waiting({ value: event, done: false });
    else this.#unread.push(event);
  }

  end(): void {
    this.#hasEnded = true;
    for (const waiting of this.#waiting.splice(0)) waiting({ value: undefined, done: true });
  }

  next(): Promise<IteratorResult<CodexEvent, undefined>> {
    if (this.#next >= this.#batch.length && this.#unread.size > 0) {
      this.#batch = this.#unread.takeAll();
      this.#next = 0;
    }
    const value = this.#batch[this.#next];
    if (value) {
      this.#next += 1;
      return Promise.resolve({ value, done: false });
    }
    this.#batch = [];
    if (this.#hasEnded) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  return(): Promise<IteratorResult<CodexEvent, undefined>> {
    this.#onReturn();
    this.#batch = [];
    this.#unread.takeAll();
    this.end();
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
