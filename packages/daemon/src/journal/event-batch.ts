import type { SessionEvent } from "../api/event.ts";
import { decodeEvent, eventTexts, type StoredEvent } from "./event-row.ts";

/**
 * Consecutive events of one session, as stored. Most readers only pass on the JSON, so events are decoded on first use, once for
 * all readers of the batch.
 */
export class EventBatch {
  readonly #rows: readonly StoredEvent[];
  #events: readonly SessionEvent[] | undefined;

  constructor(rows: readonly StoredEvent[]) {
    this.#rows = rows;
  }

  get length(): number {
    return this.#rows.length;
  }

  get first(): StoredEvent | undefined {
    return this.#rows[0];
  }

  get last(): StoredEvent | undefined {
    return this.#rows.at(-1);
  }

  /** Length of the stored JSON, in UTF-16 units. */
  get size(): number {
    return this.#rows.reduce((sum, { data }) => sum + data.length, 0);
  }

  get events(): readonly SessionEvent[] {
    this.#events ??= this.#rows.map(decodeEvent);
    return this.#events;
  }

  /** The JSON of each event. */
  texts(): Iterable<{ readonly seq: number; readonly json: string }> {
    return eventTexts(this.#rows);
  }

  /** Returns a batch with one more event before those of this one. */
  behind(row: StoredEvent): EventBatch {
    return new EventBatch([row, ...this.#rows]);
  }

  /** Returns the events after a sequence number: this batch or a part of it. */
  after(seq: number): EventBatch {
    if (!this.first || this.first.seq > seq) return this;
    return new EventBatch(this.#rows.filter((row) => row.seq > seq));
  }
}
