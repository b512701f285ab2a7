import type { Approval } from "@codexkit/daemon/client";
import type { Agent } from "../feed/index.ts";

/** An agent with its place in the tree. */
export interface AgentNode {
  readonly agent: Agent;
  /** 0 for agents that the session itself has started. */
  readonly depth: number;
  /** Requests of this agent that wait for a person. */
  readonly waiting: readonly Approval[];
}

/** The agents of a session in the order in which they were started, each below the one that started it. */
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
      // A thread that names itself or a descendant as its parent would never end.
      if (visited.has(agent.threadId)) continue;
      visited.add(agent.threadId);
      nodes.push({ agent, depth, waiting: waiting.get(agent.threadId) ?? [] });
      visit(agent.threadId, depth + 1);
    }
  };
  visit(rootThreadId, 0);
  // Agents that only a cycle of parents leads to.
  for (const agent of agents) {
    if (visited.has(agent.threadId)) continue;
    visited.add(agent.threadId);
    nodes.push({ agent, depth: 0, waiting: waiting.get(agent.threadId) ?? [] });
    visit(agent.threadId, 1);
  }
  return nodes;
}

/** The last part of an agent's path, or a short form of its thread. */
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

/** The state of an agent in words. One that waits for a person is not merely running. */
export function agentStatus({ agent, waiting }: AgentNode): string {
  return waiting.length > 0 ? "waits for you" : (STATUSES[agent.status] ?? agent.status);
}
