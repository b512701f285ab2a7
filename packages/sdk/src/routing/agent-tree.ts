import { BoundedMap } from "@codexkit/rpc/async";
import type { CodexEvent, ItemCompletedEvent } from "../events/event.ts";

/** An agent that another agent started. It has its own thread, below its parent's. */
export interface Agent {
  readonly threadId: string;
  readonly parentThreadId: string;
  readonly nickname?: string;
  readonly role?: string;
  /** Path among the agents of the root thread, such as `/root/reviewer`. */
  readonly path?: string;
  readonly model?: string;
  readonly prompt?: string;
  readonly status: string;
  readonly agents: readonly Agent[];
}

type Known = { -readonly [Key in keyof Omit<Agent, "agents">]: Agent[Key] } & {
  /** Whether the server named the parent. Otherwise it is the thread that first mentioned the agent. */
  isConfirmed: boolean;
};

/** Maximum number of known agents. Nothing else removes the agents of other clients' threads. */
const AGENTS = 10_000;

/**
 * Parents and children of agent threads, learned from events in any order: the events of a child may arrive before its
 * parent reports starting it. The threads always form a tree.
 */
export class AgentTree {
  readonly #agents = new BoundedMap<string, Known>(AGENTS, (agent) => this.#detach(agent));
  readonly #children = new Map<string, Set<string>>();

  observe(event: CodexEvent): void {
    if (event.type === "thread.started") {
      const { id, parentThreadId, agentNickname, agentRole } = event.thread;
      if (typeof parentThreadId !== "string") return;
      this.#learn(id, parentThreadId, "confirmed", { nickname: agentNickname, role: agentRole });
    } else if (event.type === "item.started" || event.type === "item.completed") {
      this.#observeItem(event.threadId, event.item);
    }
  }

  parentOf(threadId: string): string | undefined {
    return this.#agents.get(threadId)?.parentThreadId;
  }

  /** Returns the agents that a thread started. Each has its own agents in `agents`. */
  below(threadId: string): Agent[] {
    const below: Agent[] = [];
    for (const child of this.#children.get(threadId) ?? []) {
      const known = this.#agents.get(child);
      if (!known) continue;
      const { isConfirmed: _isConfirmed, ...agent } = known;
      below.push({ ...agent, agents: this.below(child) });
    }
    return below;
  }

  /** Removes the agents below a thread that is no longer held. */
  forget(threadId: string): void {
    const removed = [threadId];
    for (const parent of removed) {
      for (const child of this.#children.get(parent) ?? []) {
        this.#agents.delete(child);
        removed.push(child);
      }
      this.#children.delete(parent);
    }
  }

  #observeItem(threadId: string, item: ItemCompletedEvent["item"]): void {
    if (item.type === "subAgentActivity") {
      // Agents above the parent receive the activity too, and an agent may address one that it did not start.
      this.#learn(item.agentThreadId, threadId, "guessed", {
        path: item.agentPath,
        status: item.kind,
        model: item.model,
      });
    } else if (item.type === "collabAgentToolCall" && Array.isArray(item.receiverThreadIds)) {
      const isSpawn = item.tool === "spawnAgent";
      for (const child of item.receiverThreadIds) {
        const status = item.agentsStates?.[child]?.status;
        // Only a spawn identifies the parent; later calls may come from any agent of the tree.
        const parent = isSpawn ? item.senderThreadId : this.parentOf(child);
        if (parent === undefined) continue;
        this.#learn(child, parent, isSpawn ? "confirmed" : "guessed", {
          status,
          ...(isSpawn ? { prompt: item.prompt, model: item.model } : {}),
        });
      }
    }
  }

  #learn(
    threadId: string,
    parentThreadId: string,
    certainty: "confirmed" | "guessed",
    details: { [Key in keyof Known]?: Known[Key] | null | undefined },
  ): void {
    const known = this.#agents.get(threadId);
    const isNew = !known || (certainty === "confirmed" && !known.isConfirmed);
    if (isNew && !this.#attach(threadId, parentThreadId, certainty === "confirmed")) return;
    const given = Object.entries(details).filter(([, value]) => value !== null && value !== undefined);
    Object.assign(this.#agents.get(threadId) ?? {}, Object.fromEntries(given));
  }

  /** Puts an agent below its parent. Refuses if this would create a cycle of confirmed parents. */
  #attach(threadId: string, parentThreadId: string, isConfirmed: boolean): boolean {
    const cycle = this.#pathUp(parentThreadId, threadId);
    if (cycle) {
      const guess = isConfirmed ? cycle.find((agent) => !agent.isConfirmed) : undefined;
      if (!guess) return false;
      this.#agents.delete(guess.threadId);
      this.#detach(guess);
    }
    const known = this.#agents.get(threadId);
    if (known) this.#detach(known);
    const siblings = this.#children.get(parentThreadId) ?? new Set();
    this.#children.set(parentThreadId, siblings.add(threadId));
    this.#agents.set(threadId, { status: "started", ...known, threadId, parentThreadId, isConfirmed });
    return true;
  }

  /** Returns the agents from one thread up to another: empty if they are the same, undefined if the other is not above. */
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

  #detach({ threadId, parentThreadId }: Known): void {
    const siblings = this.#children.get(parentThreadId);
    siblings?.delete(threadId);
    if (siblings?.size === 0) this.#children.delete(parentThreadId);
  }
}
