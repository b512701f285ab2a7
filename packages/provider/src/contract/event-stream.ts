import type { ActivityEvent, AgentEvent, InitEvent, TerminalEvent } from "./agent-event.ts";
import { type BacklogLimits, EventBacklog } from "./event-backlog.ts";
import { ProviderError } from "./provider-error.ts";

export interface EventStreamOptions {
  /** Called once if the reader leaves before the end. */
  readonly onAbandoned?: () => void;
  /** What the reader may leave unread. */
  readonly limits?: Partial<BacklogLimits>;
}

/**
 * The events of one handle, and the law of the stream by construction: it begins with the `init` that it is made with, `push`
 * takes activity alone, the first `end` wins, and nothing follows it. Every provider writes to one of these. A writer never
 * waits, however slow the reader is, and the last event is never dropped.
 *
 * @example
 * const stream = new EventStream({ kind: "init", sessionId, ignored: [] }, { onAbandoned: () => handle.stop() });
 * stream.push({ kind: "assistant_text", text: "Hello" });
 * stream.end({ kind: "result", success: true, message: "Hello", errors: [], cost: {} });
 */
export class EventStream implements AsyncIterable<AgentEvent> {
  readonly #activity: EventBacklog;
  readonly #onAbandoned: (() => void) | undefined;
  #init: InitEvent | undefined;
  #terminal: TerminalEvent | undefined;
  #state: "open" | "ended" | "abandoned" = "open";
  #taken = false;
  #wake: (() => void) | undefined;

  constructor(init: InitEvent, options: EventStreamOptions = {}) {
    this.#init = init;
    this.#activity = new EventBacklog(options.limits);
    this.#onAbandoned = options.onAbandoned;
  }

  /** Whether it is over: it has its last event, or its reader left. */
  get ended(): boolean {
    return this.#state !== "open";
  }

  /** Adds an event; does nothing after the end. */
  push(event: ActivityEvent): void {
    if (this.#state !== "open") return;
    this.#activity.push(event);
    this.#wake?.();
  }

  /** Gives the last event. Only the first call counts: true for that one. */
  end(event: TerminalEvent): boolean {
    if (this.#state !== "open") return false;
    this.#state = "ended";
    this.#terminal = event;
    this.#wake?.();
    return true;
  }

  /**
   * For one reader, once.
   * @throws {ProviderError} `events_taken` for a second one.
   */
  [Symbol.asyncIterator](): AsyncIterator<AgentEvent, undefined> {
    if (this.#taken) {
      const message = "The events of a handle are read once. Share what the first reader gets.";
      throw new ProviderError("events_taken", message);
    }
    this.#taken = true;
    let last: Promise<unknown> = Promise.resolve();
    return {
      next: () => {
        // Calls that overtake each other are answered in order.
        const next = last.then(() => this.#next());
        last = next;
        return next;
      },
      return: () => {
        this.#abandon();
        return Promise.resolve({ value: undefined, done: true });
      },
    };
  }

  async #next(): Promise<IteratorResult<AgentEvent, undefined>> {
    for (;;) {
      const value = this.#take();
      if (value) return { value, done: false };
      if (this.#state !== "open") return { value: undefined, done: true };
      const woken = Promise.withResolvers<void>();
      this.#wake = woken.resolve;
      await woken.promise;
    }
  }

  #take(): AgentEvent | undefined {
    const init = this.#init;
    this.#init = undefined;
    if (init) return init;
    const activity = this.#activity.take();
    if (activity) return activity;
    const terminal = this.#terminal;
    this.#terminal = undefined;
    return terminal;
  }

  #abandon(): void {
    const early = this.#state === "open";
    this.#state = "abandoned";
    this.#init = undefined;
    this.#terminal = undefined;
    this.#activity.clear();
    this.#wake?.();
    if (early) this.#onAbandoned?.();
  }
}
