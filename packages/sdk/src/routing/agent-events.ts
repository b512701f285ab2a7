import type { AgentTree } from "./agent-tree.ts";
import type { CodexEvent } from "../events/event.ts";
import { EventLog } from "../events/event-log.ts";

/** How many events of threads without a known parent are kept. A parent is named within a few events of its agent's first. */
const UNPLACED_EVENTS = 2_000;

/**
 * The events of one thread and of the agents below it, in one stream. An agent's first events may come before anything says
 * who started it: they are kept until then.
 */
export class AgentEvents {
  readonly #rootId: string;
  readonly #tree: AgentTree;
  readonly #isHeld: (threadId: string) => boolean;
  readonly #log: EventLog;
  /** Events of threads that may turn out to be agents of this one, in the order in which they came. */
  #unplaced: CodexEvent[] = [];

  /** @param isHeld Whether this client started or resumed a thread itself: no agent of another. */
  constructor(
    rootId: string,
    { tree, isHeld, onLeft }: { tree: AgentTree; isHeld: (threadId: string) => boolean; onLeft: () => void },
  ) {
    this.#rootId = rootId;
    this.#tree = tree;
    this.#isHeld = isHeld;
    this.#log = new EventLog({ history: false, onEmpty: onLeft });
  }

  /** Takes an event of any thread, after the tree has. */
  push(event: CodexEvent): void {
    const { threadId } = event;
    if (threadId === undefined) return;
    this.#release();
    const place = this.#placeOf(threadId);
    if (place === "inside") this.#log.push(event);
    else if (place === "unknown") {
      this.#unplaced.push(event);
      if (this.#unplaced.length > UNPLACED_EVENTS) this.#unplaced.shift();
    }
  }

  read(): AsyncIterableIterator<CodexEvent, undefined, undefined> {
    return this.#log.read();
  }

  end(): void {
    this.#unplaced = [];
    this.#log.end();
  }

  #release(): void {
    if (this.#unplaced.length === 0) return;
    const kept: CodexEvent[] = [];
    for (const event of this.#unplaced) {
      const place = event.threadId === undefined ? "outside" : this.#placeOf(event.threadId);
      if (place === "inside") this.#log.push(event);
      else if (place === "unknown") kept.push(event);
    }
    this.#unplaced = kept;
  }

  #placeOf(threadId: string): "inside" | "outside" | "unknown" {
    let top = threadId;
    for (let next: string | undefined = threadId; next !== undefined; next = this.#tree.parentOf(next)) {
      if (next === this.#rootId) return "inside";
      top = next;
    }
    return this.#isHeld(top) ? "outside" : "unknown";
  }
}
