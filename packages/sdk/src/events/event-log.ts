import type { CodexEvent } from "./event.ts";
import { EventQueue } from "./event-queue.ts";

/**
 * A stream of events for any number of readers, each at its own pace. With a history, a reader that comes late sees
 * everything from the start, deltas joined; without, it sees what happens from now on.
 */
export class EventLog {
  readonly #history: EventQueue | undefined;
  readonly #readers = new Set<Reader>();
  #ended = false;

  constructor(options: { history: boolean }) {
    this.#history = options.history ? new EventQueue() : undefined;
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

  read(): AsyncIterableIterator<CodexEvent, undefined, undefined> {
    const reader = new Reader(this.#history?.copy() ?? new EventQueue(), () => this.#readers.delete(reader));
    if (this.#ended) reader.end();
    else this.#readers.add(reader);
    return reader;
  }
}

class Reader implements AsyncIterableIterator<CodexEvent, undefined, undefined> {
  readonly #unread: EventQueue;
  readonly #leave: () => void;
  #batch: CodexEvent[] = [];
  #next = 0;
  readonly #waiting: ((result: IteratorResult<CodexEvent, undefined>) => void)[] = [];
  #ended = false;

  constructor(past: EventQueue, leave: () => void) {
    this.#unread = past;
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
