import type { JSONValue } from "@ai-sdk/provider";
import type { ItemOf, ToolView } from "./tool-view.ts";

/** Returns Codex's name for a tool of an MCP server. */
export function mcpToolName(server: string, tool: string): string {
  return `mcp__${server}__${tool}`;
}

export function mcpView(item: ItemOf<"mcpToolCall">): ToolView {
  const { server, tool, status, arguments: input, result, error } = item;
  return {
    toolName: mcpToolName(server, tool),
    input: input ?? {},
    result: {
      status,
      ...(result && { content: result.content as JSONValue }),
      ...(result?.structuredContent && { structuredContent: result.structuredContent as JSONValue }),
      ...(error && { error: error.message }),
    },
    isError: status === "failed",
  };
}
