import type { Agent } from "../routing/agent-tree.ts";
import type { SharedServer } from "./shared-server.ts";

/** Interrupts and unloads the subagents that a turn left running. With `codex exec` they ended with the process. */
export async function endAgents(server: SharedServer, agents: readonly Agent[]): Promise<void> {
  await Promise.allSettled(
    agents.map(async ({ threadId, agents: children }) => {
      await endAgents(server, children);
      await interruptTurn(server, threadId);
      await server.threads.unloadById(threadId);
    }),
  );
}

async function interruptTurn({ codex }: SharedServer, threadId: string): Promise<void> {
  const params = { threadId, limit: 1, sortDirection: "desc", itemsView: "summary" } as const;
  const { data } = await codex.request("thread/turns/list", params);
  const [last] = data;
  if (last?.status === "inProgress") await codex.request("turn/interrupt", { threadId, turnId: last.id });
}
