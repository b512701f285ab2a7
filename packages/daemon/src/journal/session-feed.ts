import type { EventBatch } from "./event-batch.ts";
import type { EventsAfter } from "./event-reader.ts";

/** What a reader does next, depending on its cursor. */
export type FeedStep =
  | { readonly kind: "events"; readonly batch: EventBatch }
  /** The cursor is before the events in memory. */
  | { readonly kind: "behind" }
  /** There are no events after the cursor yet. */
  | { readonly kind: "wait"; readonly changed: Promise<void> };

interface TailBatch {
  /** The sequence number before the first event. */
  readonly after: number;
  readonly through: number;
  readonly batch: EventBatch;
  readonly bytes: number;
}

/** Rough size of a row in memory without its JSON. */
const ROW_BYTES = 150;

/**
 * The newest committed events of one session, shared by all its readers, so that a thousand readers need no more queries than one.
 * Readers that fall behind read from the store.
 */
export class SessionFeed {
  readonly sessionId: string;
  readonly #tailBytes: number;
  readonly #load: (sessionId: string, after: number) => Promise<EventsAfter>;
  readonly #onError: (error: Error) => void;
  readonly #tail: TailBatch[] = [];
  #bytes = 0;
  #last: number;
  #isLoading = false;
  #mustLoadAgain = false;
  #changed = Promise.withResolvers<void>();
  #error: Error | undefined;
  /** Time since which the store has had fewer events than this feed. */
  #lostSince: number | undefined;
  readers = 0;

  constructor(
    sessionId: string,
    last: number,
    tailBytes: number,
    load: (sessionId: string, after: number) => Promise<EventsAfter>,
    onError: (error: Error) => void,
  ) {
    this.sessionId = sessionId;
    this.#last = last;
    this.#tailBytes = tailBytes;
    this.#load = load;
    this.#onError = onError;
    // Readers that wait get the rejection. Without readers, it would be unhandled.
    this.#changed.promise.catch(() => {});
  }

  /** The newest sequence number that readers can get. */
  get last(): number {
    return this.#last;
  }

  /**
   * Adds committed events. Commits of other connections may be reported out of order. Then the events are read from the store, in
   * order.
   */
  push(batch: EventBatch): void {
    const fresh = batch.after(this.#last);
    if (!fresh.first) return;
    if (fresh.first.seq === this.#last + 1) this.#add(fresh);
    else this.refresh();
  }

  /** Whether the store has lost events of this feed for at least `graceMs`. Call it with each new observation. */
  isLostFor(isLost: boolean, graceMs: number): boolean {
    if (!isLost) this.#lostSince = undefined;
    else this.#lostSince ??= performance.now();
    return this.#lostSince !== undefined && performance.now() - this.#lostSince >= graceMs;
  }

  /** Loads events that other processes have appended. */
  refresh(): void {
    this.#mustLoadAgain = true;
    if (!this.#isLoading) void this.#loadAll();
  }

  next(cursor: number): FeedStep {
    if (cursor >= this.#last) {
      if (this.#error !== undefined) throw this.#error;
      return { kind: "wait", changed: this.#changed.promise };
    }
    const [oldest] = this.#tail;
    if (!oldest || cursor < oldest.after) return { kind: "behind" };
    const found = this.#tail.find(({ through }) => through > cursor) as TailBatch;
    return { kind: "events", batch: found.batch.after(cursor) };
  }

  /** Ends all waits. */
  close(error: Error): void {
    this.#error = error;
    this.#changed.reject(error);
  }

  async #loadAll(): Promise<void> {
    this.#isLoading = true;
    try {
      while (this.#mustLoadAgain && this.#error === undefined) {
        this.#mustLoadAgain = false;
        const { batch, hasMore } = await this.#load(this.sessionId, this.#last);
        const fresh = batch.after(this.#last);
        if (fresh.length > 0) this.#add(fresh);
        this.#mustLoadAgain ||= hasMore;
      }
    } catch (error) {
      this.#onError(error as Error);
    } finally {
      this.#isLoading = false;
    }
  }

  #add(batch: EventBatch): void {
    const through = batch.last?.seq ?? this.#last;
    const bytes = batch.size + batch.length * ROW_BYTES;
    this.#tail.push({ after: this.#last, through, batch, bytes });
    this.#bytes += bytes;
    this.#last = through;
    while (this.#bytes > this.#tailBytes && this.#tail.length > 1) {
      this.#bytes -= this.#tail.shift()?.bytes ?? 0;
    }
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers();
    this.#changed.promise.catch(() => {});
    resolve();
  }
}
