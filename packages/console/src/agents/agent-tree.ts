import type { Approval } from "@codexkit/daemon/client";
import type { Agent } from "../feed/index.ts";

/** An agent with its position in the tree. */
export interface AgentNode {
  readonly agent: Agent;
  /** Depth in the tree. 0 for agents that the session itself has started. */
  readonly depth: number;
  /** Number of this agent's open requests. */
  readonly waiting: readonly Approval[];
}

/** Lists the agents of a session in the order of their start, each below its parent. */
export function agentTree(
  agents: readonly Agent[],
  approvals: readonly Approval[],
  rootThreadId: string | null,
): readonly AgentNode[] {
  const known = new Set(agents.map(({ threadId }) => threadId));
  const byParent = Map.groupBy(
    agents.toSorted((one, other) => one.firstSeq - other.firstSeq),
    ({ parentThreadId }) =>
      parentThreadId !== null && known.has(parentThreadId) ? parentThreadId : rootThreadId,
  );
  const waiting = Map.groupBy(
    approvals.filter(({ state }) => state === "open" || state === "parked"),
    ({ threadId }) => threadId,
  );
  const nodes: AgentNode[] = [];
  const visited = new Set<string>();
  const visit = (parent: string | null, depth: number): void => {
    for (const agent of byParent.get(parent) ?? []) {
      // Prevents an endless loop if a thread names itself or a descendant as its parent.
      if (visited.has(agent.threadId)) continue;
      visited.add(agent.threadId);
      nodes.push({ agent, depth, waiting: waiting.get(agent.threadId) ?? [] });
      visit(agent.threadId, depth + 1);
    }
  };
  visit(rootThreadId, 0);
  // Agents whose parents form a cycle.
  for (const agent of agents) {
    if (visited.has(agent.threadId)) continue;
    visited.add(agent.threadId);
    nodes.push({ agent, depth: 0, waiting: waiting.get(agent.threadId) ?? [] });
    visit(agent.threadId, 1);
  }
  return nodes;
}

/** The last part of an agent's path, or a shortened thread ID. */
export function agentName({ name, threadId }: Pick<Agent, "name" | "threadId">): string {
  return name?.split("/").findLast((part) => part !== "") ?? threadId.slice(0, 8);
}

const STATUSES: Readonly<Record<string, string>> = {
  pendingInit: "starting",
  running: "running",
  interrupted: "interrupted",
  completed: "done",
  errored: "failed",
  shutdown: "ended",
  notFound: "gone",
};

/** Describes the state of an agent. An agent with open requests is described as waiting, not as running. */
export function agentStatus({ agent, waiting }: AgentNode): string {
  return waiting.length > 0 ? "waits for you" : (STATUSES[agent.status] ?? agent.status);
}
