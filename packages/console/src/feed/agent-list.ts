import type { ItemRecord } from "./item-record.ts";
import type { Agent } from "./types.ts";

/** The agents of a session, collected from the items that report them. */
export class AgentList {
  /** Sorted by the first item that reports the agent. */
  list: readonly Agent[] = [];
  readonly #agents = new Map<string, Agent>();

  /** Returns whether the item reports an agent. */
  note({ item, firstSeq }: ItemRecord): boolean {
    if (item.type === "subAgentActivity") {
      this.#update(item.agentThreadId, firstSeq, {
        name: item.agentPath,
        status: item.kind,
        ...(item.model !== null && { model: item.model }),
      });
      return true;
    }
    if (item.type !== "collabAgentToolCall") return false;
    for (const threadId of item.receiverThreadIds) {
      this.#update(threadId, firstSeq, {
        parentThreadId: item.senderThreadId,
        ...(item.prompt !== null && item.tool === "spawnAgent" && { prompt: item.prompt }),
        ...(item.model !== null && { model: item.model }),
      });
    }
    for (const [threadId, state] of Object.entries(item.agentsStates)) {
      if (state) this.#update(threadId, firstSeq, { status: state.status, message: state.message });
    }
    return true;
  }

  #update(threadId: string, firstSeq: number, agent: Partial<Agent>): void {
    const known = this.#agents.get(threadId);
    this.#agents.set(threadId, {
      threadId,
      parentThreadId: null,
      name: null,
      status: "running",
      prompt: null,
      model: null,
      message: null,
      firstSeq,
      ...known,
      ...agent,
    });
    this.list = [...this.#agents.values()].toSorted((a, b) => a.firstSeq - b.firstSeq);
  }
}
