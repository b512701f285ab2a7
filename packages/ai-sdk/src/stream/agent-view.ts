import type { JSONObject } from "@ai-sdk/provider";
import type { ItemOf } from "./item-of.ts";
import type { ToolView } from "./tool-view.ts";

/** What the agent does with agents of its own: starts one, waits for it, sends it a message. */
export function agentView(item: ItemOf<"collabAgentToolCall">): ToolView {
  const { tool, status, prompt, model, receiverThreadIds, agentsStates } = item;
  return {
    toolName: `codex_${tool.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
    input: {
      ...(prompt !== null && { prompt }),
      ...(model !== null && { model }),
      agents: [...receiverThreadIds],
    },
    result: { status, agents: { ...agentsStates } as JSONObject },
    isError: status === "failed",
  };
}
