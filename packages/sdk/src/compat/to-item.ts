import type { v2 } from "@codexkit/protocol";
import type { ThreadItem } from "./items.ts";

/**
 * Converts an item to the format of `codex exec --json`. Undefined for items that it does not emit. Some values are not in the
 * original's types (a declined command, a patch in progress, agent calls); they are passed on as the original does.
 */
export function toItem(item: v2.ThreadItem, id: string): ThreadItem | undefined {
  const fields = toFields(item);
  // A web search keeps the model's own id, as in the original.
  return fields && ({ id, ...fields } as ThreadItem);
}

function toFields(item: v2.ThreadItem): object | undefined {
  switch (item.type) {
    case "agentMessage":
      return { type: "agent_message", text: item.text };
    case "reasoning": {
      const text = item.summary.join("\n");
      return text.trim() === "" ? undefined : { type: "reasoning", text };
    }
    case "commandExecution":
      return {
        type: "command_execution",
        command: item.command,
        aggregated_output: item.aggregatedOutput ?? "",
        exit_code: item.exitCode,
        status: snakeCase(item.status),
      };
    case "fileChange":
      return {
        type: "file_change",
        changes: item.changes.map(({ path, kind }) => ({ path, kind: kind.type })),
        status: item.status === "declined" ? "failed" : snakeCase(item.status),
      };
    case "mcpToolCall":
      return {
        type: "mcp_tool_call",
        server: item.server,
        tool: item.tool,
        arguments: item.arguments,
        result: item.result && mcpResult(item.result),
        error: item.error && { message: item.error.message },
        status: snakeCase(item.status),
      };
    case "collabAgentToolCall":
      return {
        type: "collab_tool_call",
        tool: item.tool === "resumeAgent" ? "wait" : snakeCase(item.tool),
        sender_thread_id: item.senderThreadId,
        receiver_thread_ids: item.receiverThreadIds,
        prompt: item.prompt,
        agents_states: agentsStates(item.agentsStates),
        status: snakeCase(item.status),
      };
    case "webSearch":
      return { id: item.id, type: "web_search", query: item.query, action: webSearchAction(item.action) };
    default:
      return undefined;
  }
}

function mcpResult({ content, _meta, structuredContent }: v2.McpToolCallResult): object {
  const meta = _meta === null ? {} : { _meta };
  return { content, ...meta, structured_content: structuredContent };
}

function agentsStates(states: { [id in string]?: v2.CollabAgentState }): object {
  const entries = Object.entries(states).map(([id, state]) => [
    id,
    state && { status: snakeCase(state.status), message: state.message },
  ]);
  return Object.fromEntries(entries) as object;
}

function webSearchAction(action: v2.WebSearchAction | null): object {
  const { type, ...details } = action ?? { type: "other" };
  const known = Object.entries(details).filter(([, value]) => value !== null);
  return { type: snakeCase(type), ...Object.fromEntries(known) };
}

function snakeCase(word: string): string {
  return word.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
