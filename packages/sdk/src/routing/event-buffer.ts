import type { CodexEvent } from "../events/event.ts";
import { EventQueue } from "../events/event-queue.ts";
import { relationTo, type ThreadRelations } from "./agent-events.ts";

/**
 * Keeps the events of a thread until their first reader. Starts before the request that opens the thread is sent: the server
 * sends notifications about a thread before the response that names it.
 */
export class EventBuffer {
  readonly #relations: ThreadRelations;
  readonly #events = new EventQueue();
  #threadId: string | undefined;

  constructor(relations: ThreadRelations) {
    this.#relations = relations;
  }

  /** Adds an event of any thread. The tree of agents must have observed it before. */
  push(event: CodexEvent): void {
    if (event.threadId !== undefined && this.#mayBelong(event.threadId)) this.#events.push(event);
  }

  /** Sets the thread. Events of threads that can't be its agents are dropped. */
  assign(threadId: string): void {
    this.#threadId = threadId;
    const earlier = this.#events.takeAll();
    for (const event of earlier) {
      // A gap names no thread, and may stand for events of this one.
      if (event.threadId === undefined || this.#mayBelong(event.threadId)) this.#events.push(event);
    }
  }

  takeAll(): CodexEvent[] {
    return this.#events.takeAll();
  }

  #mayBelong(threadId: string): boolean {
    return (
      this.#threadId === undefined || relationTo(this.#threadId, threadId, this.#relations) !== "outside"
    );
  }
}
