import { BoundedSet } from "@codexkit/rpc/async";
import type { CodexEvent } from "../events/event.ts";
import { EventLog } from "../events/event-log.ts";
import type { AgentTree } from "./agent-tree.ts";

/** How threads relate to each other, as far as known. */
export interface ThreadRelations {
  readonly tree: AgentTree;
  /** Whether this client started or resumed a thread itself, so that it is not an agent of another one. */
  readonly isHeld: (threadId: string) => boolean;
}

/** Whether a thread is a root thread or an agent below it. `unknown`: its parent may not have been named yet. */
export function relationTo(
  rootId: string,
  threadId: string,
  { tree, isHeld }: ThreadRelations,
): "inside" | "outside" | "unknown" {
  let top = threadId;
  for (let next: string | undefined = threadId; next !== undefined; next = tree.parentOf(next)) {
    if (next === rootId) return "inside";
    top = next;
  }
  return isHeld(top) ? "outside" : "unknown";
}

/** Number of events kept for threads without a known parent. The parent is named within a few events of an agent's first. */
const UNATTRIBUTED_EVENTS = 2_000;

/**
 * The events of one thread and of the agents below it, in one stream. The first events of an agent may arrive before its
 * parent is known; they are kept until then.
 */
export class AgentEvents {
  readonly #rootId: string;
  readonly #relations: ThreadRelations;
  readonly #log: EventLog;
  /** Events of threads that may turn out to be agents of this one, in order of arrival. */
  readonly #unattributed = new BoundedSet<CodexEvent>(UNATTRIBUTED_EVENTS);

  constructor(rootId: string, relations: ThreadRelations, onReturn: () => void) {
    this.#rootId = rootId;
    this.#relations = relations;
    this.#log = new EventLog({ history: false, onEmpty: onReturn });
  }

  /** Adds an event of any thread. The tree must have observed it before. */
  push(event: CodexEvent): void {
    if (event.threadId === undefined) return;
    this.#attribute();
    const relation = relationTo(this.#rootId, event.threadId, this.#relations);
    if (relation === "inside") this.#log.push(event);
    else if (relation === "unknown") this.#unattributed.add(event);
  }

  /** @param earlier Events from before the call, oldest first. A gap among them names no thread. */
  read(earlier: readonly CodexEvent[]): AsyncIterableIterator<CodexEvent, undefined, undefined> {
    const reader = this.#log.read();
    for (const event of earlier) {
      if (event.threadId === undefined) this.#log.push(event);
      else this.push(event);
    }
    return reader;
  }

  end(): void {
    this.#unattributed.clear();
    this.#log.end();
  }

  /** Publishes or drops the kept events whose thread is now known. */
  #attribute(): void {
    for (const event of this.#unattributed) {
      if (event.threadId === undefined) continue;
      const relation = relationTo(this.#rootId, event.threadId, this.#relations);
      if (relation === "inside") this.#log.push(event);
      if (relation !== "unknown") this.#unattributed.delete(event);
    }
  }
}
