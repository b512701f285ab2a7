import type { Backpressure } from "./backpressure.ts";
import type { CodexEvent } from "./event.ts";
import { EventQueue } from "./event-queue.ts";
import { LosslessQueue } from "./lossless-queue.ts";

export interface EventLogOptions {
  /** Whether a late reader sees everything from the start. */
  readonly history: boolean;
  /** Called when the last reader left. */
  readonly onEmpty?: () => void;
}

/** The unread events of one reader. */
interface Unread {
  readonly size: number;
  push(event: CodexEvent): void;
  takeAll(): CodexEvent[];
}

/**
 * A stream of events for any number of readers, each at its own pace. With a history, a reader that comes late sees
 * everything from the start, deltas joined; without, it sees what happens from now on.
 */
export class EventLog {
  readonly #history: EventQueue | undefined;
  readonly #readers = new Set<Reader>();
  readonly #onEmpty: () => void;
  #ended = false;

  constructor({ history, onEmpty = () => {} }: EventLogOptions) {
    this.#history = history ? new EventQueue() : undefined;
    this.#onEmpty = onEmpty;
  }

  push(event: CodexEvent): void {
    if (this.#ended) return;
    this.#history?.push(event);
    for (const reader of this.#readers) reader.push(event);
  }

  /** No more events: readers finish what they have. */
  end(): void {
    this.#ended = true;
    for (const reader of this.#readers) reader.end();
    this.#readers.clear();
  }

  /** Reads from now on, or from the start with a history. A slow reader gets deltas joined, and beyond a limit a gap. */
  read(): AsyncIterableIterator<CodexEvent, undefined, undefined> {
    return this.#open(this.#history?.copy() ?? new EventQueue());
  }

  /** Reads every event from now on, as it came. A slow reader holds the backpressure instead of losing anything. */
  readLossless(backpressure: Backpressure): AsyncIterableIterator<CodexEvent, undefined, undefined> {
    const queue = new LosslessQueue(backpressure);
    return this.#open(queue, () => queue.close());
  }

  #open(
    unread: Unread,
    onLeft: () => void = () => {},
  ): AsyncIterableIterator<CodexEvent, undefined, undefined> {
    const reader = new Reader(unread, () => {
      onLeft();
      if (this.#readers.delete(reader) && this.#readers.size === 0) this.#onEmpty();
    });
    if (this.#ended) reader.end();
    else this.#readers.add(reader);
    return reader;
  }
}

class Reader implements AsyncIterableIterator<CodexEvent, undefined, undefined> {
  readonly #unread: Unread;
  readonly #leave: () => void;
  #batch: CodexEvent[] = [];
  #next = 0;
  readonly #waiting: ((result: IteratorResult<CodexEvent, undefined>) => void)[] = [];
  #ended = false;

  constructor(unread: Unread, leave: () => void) {
    this.#unread = unread;
    this.#leave = leave;
  }

  push(event: CodexEvent): void {
    const waiting = this.#waiting.shift();
    if (waiting) waiting({ value: event, done: false });
    else this.#unread.push(event);
  }

  end(): void {
    this.#ended = true;
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
    if (this.#ended) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  return(): Promise<IteratorResult<CodexEvent, undefined>> {
    this.#leave();
    this.#batch = [];
    this.#unread.takeAll();
    this.end();
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
