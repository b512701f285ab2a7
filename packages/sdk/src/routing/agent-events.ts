import { BoundedSet } from "@codexkit/rpc/async";
import type { CodexEvent } from "../events/event.ts";
import { EventLog } from "../events/event-log.ts";
import type { AgentTree } from "./agent-tree.ts";

/** Events to keep for threads without a known parent. The parent is named within a few events of an agent's first. */
const UNATTRIBUTED_EVENTS = 2_000;

/**
 * The events of one thread and of the agents below it, in one stream. The first events of an agent may arrive before its
 * parent is known; they are kept until then.
 */
export class AgentEvents {
  readonly #rootId: string;
  readonly #tree: AgentTree;
  readonly #isHeld: (threadId: string) => boolean;
  readonly #log: EventLog;
  /** Events of threads that may turn out to be agents of this one, in order of arrival. */
  readonly #unattributed = new BoundedSet<CodexEvent>(UNATTRIBUTED_EVENTS);

  /** @param isHeld Whether this client started or resumed a thread itself, so that it is not an agent of another one. */
  constructor(
    rootId: string,
    options: { tree: AgentTree; isHeld: (threadId: string) => boolean; onReturn: () => void },
  ) {
    this.#rootId = rootId;
    this.#tree = options.tree;
    this.#isHeld = options.isHeld;
    this.#log = new EventLog({ history: false, onEmpty: options.onReturn });
  }

  /** Adds an event of any thread. The tree must have observed it before. */
  push(event: CodexEvent): void {
    if (event.threadId === undefined) return;
    this.#attribute();
    const relation = this.#relationOf(event.threadId);
    if (relation === "inside") this.#log.push(event);
    else if (relation === "unknown") this.#unattributed.add(event);
  }

  read(): AsyncIterableIterator<CodexEvent, undefined, undefined> {
    return this.#log.read();
  }

  end(): void {
    this.#unattributed.clear();
    this.#log.end();
  }

  /** Publishes or drops the kept events whose thread is now known. */
  #attribute(): void {
    for (const event of this.#unattributed) {
      const relation = event.threadId === undefined ? "outside" : this.#relationOf(event.threadId);
      if (relation === "inside") this.#log.push(event);
      if (relation !== "unknown") this.#unattributed.delete(event);
    }
  }

  #relationOf(threadId: string): "inside" | "outside" | "unknown" {
    let top = threadId;
    for (let next: string | undefined = threadId; next !== undefined; next = this.#tree.parentOf(next)) {
      if (next === this.#rootId) return "inside";
      top = next;
    }
    return this.#isHeld(top) ? "outside" : "unknown";
  }
}
