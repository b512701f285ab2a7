import type { CodexEvent, ItemCompletedEvent } from "../events/event.ts";

/** An agent that another one started: a thread of its own, below its parent's. */
export interface Agent {
  readonly threadId: string;
  readonly parentThreadId: string;
  readonly nickname?: string;
  readonly role?: string;
  /** Where it stands among the agents of its root, such as `/root/reviewer`. */
  readonly path?: string;
  readonly model?: string;
  readonly prompt?: string;
  readonly status: string;
  readonly agents: readonly Agent[];
}

type Known = { -readonly [Key in keyof Omit<Agent, "agents">]: Agent[Key] } & {
  /** Whether the parent was named by the server, and is not only who showed the agent first. */
  sure: boolean;
};

/** How many agents are known at once; the oldest go first. Those of other clients' threads are never forgotten otherwise. */
const AGENTS = 10_000;

/**
 * Who started whom, as far as the events tell, in whatever order they come: a child's events may come before its parent
 * says that it started it. The threads always form a tree.
 */
export class AgentTree {
  readonly #agents = new Map<string, Known>();
  readonly #children = new Map<string, Set<string>>();

  observe(event: CodexEvent): void {
    if (event.type === "thread.started") {
      const { id, parentThreadId, agentNickname, agentRole } = event.thread;
      if (typeof parentThreadId !== "string") return;
      this.#learn(id, parentThreadId, "sure", { nickname: agentNickname, role: agentRole });
    } else if (event.type === "item.started" || event.type === "item.completed") {
      this.#observeItem(event.threadId, event.item);
    }
  }

  parentOf(threadId: string): string | undefined {
    return this.#agents.get(threadId)?.parentThreadId;
  }

  /** The agents below a thread, each with its own. */
  below(threadId: string): Agent[] {
    const below: Agent[] = [];
    for (const child of this.#children.get(threadId) ?? []) {
      const known = this.#agents.get(child);
      if (!known) continue;
      const { sure: _sure, ...agent } = known;
      below.push({ ...agent, agents: this.below(child) });
    }
    return below;
  }

  /** Forgets the agents of a thread that is no longer held. */
  forget(threadId: string): void {
    const gone = [threadId];
    for (const parent of gone) {
      for (const child of this.#children.get(parent) ?? []) {
        this.#agents.delete(child);
        gone.push(child);
      }
      this.#children.delete(parent);
    }
  }

  #observeItem(threadId: string, item: ItemCompletedEvent["item"]): void {
    if (item.type === "subAgentActivity") {
      // An activity is also shown to the agents above the parent, and an agent may turn to one that it did not start.
      this.#learn(item.agentThreadId, threadId, "guess", {
        path: item.agentPath,
        status: item.kind,
        model: item.model,
      });
    } else if (item.type === "collabAgentToolCall" && Array.isArray(item.receiverThreadIds)) {
      const isSpawn = item.tool === "spawnAgent";
      for (const child of item.receiverThreadIds) {
        const status = item.agentsStates?.[child]?.status;
        // Only a spawn tells who the parent is; later calls may come from anyone in the tree.
        const parent = isSpawn ? item.senderThreadId : this.parentOf(child);
        if (parent === undefined) continue;
        this.#learn(child, parent, isSpawn ? "sure" : "guess", {
          status,
          ...(isSpawn ? { prompt: item.prompt, model: item.model } : {}),
        });
      }
    }
  }

  #learn(
    threadId: string,
    parentThreadId: string,
    certainty: "sure" | "guess",
    more: { [Key in keyof Known]?: Known[Key] | null | undefined },
  ): void {
    const known = this.#agents.get(threadId);
    const isNew = !known || (certainty === "sure" && !known.sure);
    if (isNew && !this.#place(threadId, parentThreadId, certainty === "sure")) return;
    const news = Object.entries(more).filter(([, value]) => value !== null && value !== undefined);
    Object.assign(this.#agents.get(threadId) ?? {}, Object.fromEntries(news));
  }

  /** Puts an agent below its parent; refuses what would make a circle of what the server said. */
  #place(threadId: string, parentThreadId: string, sure: boolean): boolean {
    const circle = this.#pathUp(parentThreadId, threadId);
    if (circle) {
      const guess = sure ? circle.find((agent) => !agent.sure) : undefined;
      if (!guess) return false;
      this.#remove(guess);
    }
    const known = this.#agents.get(threadId);
    if (known) this.#leave(known);
    this.#agents.set(threadId, { status: "started", ...known, threadId, parentThreadId, sure });
    this.#siblings(parentThreadId).add(threadId);
    if (this.#agents.size > AGENTS) this.#removeOldest();
    return true;
  }

  /** The agents from a thread up to one above it, none where they are the same; undefined where it is not above. */
  #pathUp(from: string, to: string): Known[] | undefined {
    const path: Known[] = [];
    for (let next = from; next !== to;) {
      const agent = this.#agents.get(next);
      if (!agent) return undefined;
      path.push(agent);
      next = agent.parentThreadId;
    }
    return path;
  }

  /** A tenth at a time: to find the oldest, a map walks over the places of all that left before. */
  #removeOldest(): void {
    for (const agent of this.#agents.values()) {
      if (this.#agents.size <= AGENTS * 0.9) return;
      this.#remove(agent);
    }
  }

  #remove(agent: Known): void {
    this.#agents.delete(agent.threadId);
    this.#leave(agent);
  }

  #leave({ threadId, parentThreadId }: Known): void {
    const siblings = this.#children.get(parentThreadId);
    siblings?.delete(threadId);
    if (siblings?.size === 0) this.#children.delete(parentThreadId);
  }

  #siblings(parentThreadId: string): Set<string> {
    const known = this.#children.get(parentThreadId);
    if (known) return known;
    const siblings = new Set<string>();
    this.#children.set(parentThreadId, siblings);
    return siblings;
  }
}
