import type { ActivityEvent } from "./agent-event.ts";
import { joinEvents, sizeOf } from "./join-events.ts";

/** What a reader may leave unread; one more drops the oldest, and a `gap` says how many are gone. */
export interface BacklogLimits {
  readonly events: number;
  readonly characters: number;
}

const LIMITS: BacklogLimits = {
  // A session has a few thousand once its words are joined; far more is a reader that stands still.
  events: 20_000,
  // A command that prints without end must not fill the memory of a runner that does not look.
  characters: 32 * 1024 * 1024,
};

/**
 * The activity that nobody has read yet. Words and progress are joined while they wait, so that a slow reader gets fewer and
 * larger events.
 */
export class EventBacklog {
  readonly #limits: BacklogLimits;
  /** Unread from `#head` on: cutting off what was taken moves all the rest, so it is done rarely. */
  #events: ActivityEvent[] = [];
  #head = 0;
  #characters = 0;
  #dropped = 0;

  constructor(limits: Partial<BacklogLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  push(event: ActivityEvent): void {
    const last = this.#head < this.#events.length ? this.#events.at(-1) : undefined;
    const joined = last && joinEvents(last, event);
    if (joined) this.#events[this.#events.length - 1] = joined;
    else this.#events.push(event);
    this.#characters += sizeOf(event);
    while (this.#crowded()) {
      this.#shift();
      this.#dropped += 1;
    }
  }

  /** The oldest, or the word that older ones are missing. */
  take(): ActivityEvent | undefined {
    if (this.#dropped === 0) return this.#shift();
    const message = `The reader fell behind: ${this.#dropped} events are missing here.`;
    this.#dropped = 0;
    return { kind: "system", subtype: "gap", message };
  }

  clear(): void {
    this.#events = [];
    this.#head = 0;
    this.#characters = 0;
    this.#dropped = 0;
  }

  #crowded(): boolean {
    const unread = this.#events.length - this.#head;
    // The newest stays, however large it is.
    return unread > 1 && (unread > this.#limits.events || this.#characters > this.#limits.characters);
  }

  #shift(): ActivityEvent | undefined {
    const event = this.#events[this.#head];
    if (event === undefined) return undefined;
    this.#characters -= sizeOf(event);
    this.#head += 1;
    if (this.#head === this.#events.length || this.#head > this.#limits.events) {
      this.#events = this.#events.slice(this.#head);
      this.#head = 0;
    }
    return event;
  }
}
