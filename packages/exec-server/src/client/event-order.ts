import { ExecError } from "../errors.ts";
import { CLIENT_LIMITS, type ClientLimits } from "../limits.ts";

/** An event of a process, with its sequence number and its size. */
export interface NumberedEvent {
  readonly seq: number;
  readonly bytes: number;
}

/**
 * Puts the events of one process in the order of their numbers. Codex's server sends some of them in another, and after
 * a resumed session the same event may come twice. Pure: what is due comes back from `take`.
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

  /** Whether an event waits for earlier ones. */
  get hasGap(): boolean {
    return this.#early.size > 0;
  }

  /** Adds an event. Returns those that are due now, in order. */
  take(event: Event): Event[] {
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
      `event ${this.#next} is missing while ${this.#early.size} later ones came (reorderEvents, reorderBytes)`,
    );
  }
}
