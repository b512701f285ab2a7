import { ExecError } from "../errors.ts";
import { CLIENT_LIMITS, type ClientLimits } from "../limits.ts";

/** An event of a process, with its sequence number and its size. */
export interface NumberedEvent {
  readonly seq: number;
  readonly bytes: number;
}

/**
 * Sorts the events of one process by sequence number. Codex's server sends some of them out of order, and
 * after a resumed session the same event may arrive twice.
 */
export class EventOrder<Event extends NumberedEvent> {
  readonly #early = new Map<number, Event>();
  #earlyBytes = 0;
  #next = 1;
  readonly #limits: Pick<ClientLimits, "reorderBytes" | "reorderEvents">;

  constructor(limits: Pick<ClientLimits, "reorderBytes" | "reorderEvents"> = CLIENT_LIMITS) {
    this.#limits = limits;
  }

  /** The sequence number of the last event that was returned. */
  get last(): number {
    return this.#next - 1;
  }

  /** Whether an event is waiting for earlier ones. */
  get hasGap(): boolean {
    return this.#early.size > 0;
  }

  /** Adds an event and returns the events that are now due, in order. */
  add(event: Event): Event[] {
    if (event.seq < this.#next || this.#early.has(event.seq)) return [];
    if (event.seq > this.#next) {
      this.#keep(event);
      return [];
    }
    const due = [event];
    this.#next += 1;
    for (let next = this.#early.get(this.#next); next; next = this.#early.get(this.#next)) {
      this.#early.delete(this.#next);
      this.#earlyBytes -= next.bytes;
      due.push(next);
      this.#next += 1;
    }
    return due;
  }

  #keep(event: Event): void {
    this.#early.set(event.seq, event);
    this.#earlyBytes += event.bytes;
    const { reorderEvents, reorderBytes } = this.#limits;
    if (this.#early.size <= reorderEvents && this.#earlyBytes <= reorderBytes) return;
    throw new ExecError(
      "protocol_violation",
      `Event ${this.#next} is missing, although ${this.#early.size} later ones arrived (reorderEvents, reorderBytes).`,
    );
  }
}
