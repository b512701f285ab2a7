import type { Agent, Thread } from "codexkit";
import type { Subagent } from "../../contract/agent-event.ts";

/** The agents below the thread of a session, at any depth. */
export class Subagents {
  readonly #thread: Pick<Thread, "id" | "agents" | "settings">;
  /** By thread. An agent keeps the name that its first event was reported with. */
  readonly #known = new Map<string, Subagent>();

  constructor(thread: Pick<Thread, "id" | "agents" | "settings">) {
    this.#thread = thread;
  }

  /** The subagent of a thread. Undefined for the session's own thread. */
  find(threadId: string): Subagent | undefined {
    if (threadId === this.#thread.id) return undefined;
    const known = this.#known.get(threadId);
    if (known) return known;
    const agent = findAgent(this.#thread.agents, threadId);
    const name = agent?.nickname ?? agent?.role ?? agent?.path;
    const subagent = {
      id: threadId,
      parentId: agent?.parentThreadId ?? this.#thread.id,
      ...(name === undefined ? {} : { name }),
    };
    this.#known.set(threadId, subagent);
    return subagent;
  }

  /** The model of a thread. A subagent has the model of its parent unless it was started with another. */
  modelOf(threadId: string): string {
    const agent = threadId === this.#thread.id ? undefined : findAgent(this.#thread.agents, threadId);
    if (!agent) return this.#thread.settings.model;
    return agent.model ?? this.modelOf(agent.parentThreadId);
  }
}

function findAgent(agents: readonly Agent[], threadId: string): Agent | undefined {
  for (const agent of agents) {
    const found = agent.threadId === threadId ? agent : findAgent(agent.agents, threadId);
    if (found) return found;
  }
  return undefined;
}
