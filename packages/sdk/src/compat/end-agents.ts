import type { Codex } from "../codex.ts";
import type { Agent } from "../thread/agent-tree.ts";

/** Stops the agents that a turn left at work, and lets the server forget them: with `codex exec` they ended with the process. */
export async function endAgents(codex: Codex, agents: readonly Agent[]): Promise<void> {
  await Promise.all(
    agents.map(async ({ threadId, agents: below }) => {
      await endAgents(codex, below);
      await interrupt(codex, threadId);
      await codex.request("thread/unsubscribe", { threadId });
    }),
  );
}

async function interrupt(codex: Codex, threadId: string): Promise<void> {
  const params = { threadId, limit: 1, sortDirection: "desc", itemsView: "summary" } as const;
  const { data } = await codex.request("thread/turns/list", params);
  const [last] = data;
  if (last?.status === "inProgress") await codex.request("turn/interrupt", { threadId, turnId: last.id });
}
