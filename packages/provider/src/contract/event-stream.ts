import { AsyncQueue } from "@codexkit/rpc/async";
import type { ActivityEvent, AgentEvent, InitEvent, TerminalEvent } from "./agent-event.ts";
import { joinEvents, sizeOf } from "./join-events.ts";
import { ProviderError } from "./provider-error.ts";

/** Limit of the unread events, so that a command with endless output does not fill the memory of a runner that does not read. */
const UNREAD_CHARACTERS = 32 * 1024 * 1024;

/** Added to the length of the text of each event. The limit thus allows about 20,000 events without text. */
const EVENT_CHARACTERS = 1_600;

export interface EventStreamOptions {
  /** Called once if the reader stops before the end. */
  readonly onAbandoned?: () => void;
  /**
   * Limit of the unread events, in characters. Each event counts as 1,600 characters plus its text. Beyond it, the oldest events
   * are dropped and a `gap` event reports how many. Default: 32 Mi.
   */
  readonly unreadCharacters?: number;
}

/**
 * The events of one handle. Enforces the rules of the stream: it starts with `init`, `push` accepts only activity, the first `end`
 * wins, and nothing follows it. `push` never waits: text and progress are joined for a slow reader, and the terminal event is
 * never dropped.
 *
 * @example
 * const stream = new EventStream({ kind: "init", sessionId, ignored: [] }, { onAbandoned: () => handle.stop() });
 * stream.push({ kind: "assistant_text", text: "Hello" });
 * stream.end({ kind: "result", success: true, message: "Hello", errors: [], cost: {} });
 */
export class EventStream implements AsyncIterable<AgentEvent> {
  readonly #activity: AsyncQueue<ActivityEvent>;
  readonly #onAbandoned: (() => void) | undefined;
  #init: InitEvent | undefined;
  #terminal: TerminalEvent | undefined;
  #state: "open" | "ended" | "abandoned" = "open";
  #isTaken = false;

  constructor(
    init: InitEvent,
    { onAbandoned, unreadCharacters = UNREAD_CHARACTERS }: EventStreamOptions = {},
  ) {
    this.#init = init;
    this.#onAbandoned = onAbandoned;
    this.#activity = new AsyncQueue<ActivityEvent>({
      maxSize: unreadCharacters,
      sizeOf: (event) => EVENT_CHARACTERS + sizeOf(event),
      merge: joinEvents,
      onDropped: (count) => ({
        kind: "system",
        subtype: "gap",
        message: `The reader fell behind: ${count} events are missing here.`,
      }),
    });
  }

  /** Whether the stream has its terminal event or its reader has stopped. */
  get ended(): boolean {
    return this.#state !== "open";
  }

  /** Adds an event. No-op after the end. */
  push(event: ActivityEvent): void {
    if (this.#state === "open") this.#activity.push(event);
  }

  /** Ends the stream. Only the first call has an effect, and returns true. */
  end(event: TerminalEvent): boolean {
    if (this.#state !== "open") return false;
    this.#state = "ended";
    this.#terminal = event;
    this.#activity.end();
    return true;
  }

  /**
   * Returns the only reader.
   * @throws {ProviderError} `events_taken` for a second reader.
   */
  [Symbol.asyncIterator](): AsyncIterator<AgentEvent, undefined> {
    if (this.#isTaken) {
      const message = "The events of a handle can be read only once. Share the events of the first reader.";
      throw new ProviderError("events_taken", message);
    }
    this.#isTaken = true;
    const events = this.#read();
    return {
      // A generator answers concurrent calls in order.
      next: () => events.next(),
      // `return` of the generator would wait for a pending `next`.
      return: () => {
        this.#abandon();
        return Promise.resolve({ value: undefined, done: true });
      },
    };
  }

  async *#read(): AsyncGenerator<AgentEvent, undefined, undefined> {
    if (this.#init) yield this.#init;
    yield* this.#activity;
    if (this.#terminal) yield this.#terminal;
    return undefined;
  }

  #abandon(): void {
    const isEarly = this.#state === "open";
    this.#state = "abandoned";
    this.#init = undefined;
    this.#terminal = undefined;
    this.#activity.clear();
    this.#activity.end();
    if (isEarly) this.#onAbandoned?.();
  }
}
