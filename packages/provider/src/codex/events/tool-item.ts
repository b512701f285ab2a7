import type { v2 } from "codexkit";
import type { ToolCategory } from "../../contract/agent-event.ts";

/** An item that represents a tool call. */
export interface ToolItem {
  readonly name: string;
  readonly category: ToolCategory;
  readonly input: unknown;
  /** Its result, once it has completed. */
  readonly content: string;
  readonly isError: boolean;
}

/** Reads an item as a tool call. Undefined if it is not one. */
export function toToolItem(item: v2.ThreadItem): ToolItem | undefined {
  switch (item.type) {
    case "commandExecution":
      return {
        name: "shell",
        category: "command",
        input: { command: item.command, cwd: item.cwd },
        content: item.aggregatedOutput ?? "",
        isError: item.status !== "completed" || (item.exitCode ?? 0) !== 0,
      };
    case "fileChange":
      return {
        name: "apply_patch",
        category: "edit",
        input: { changes: item.changes },
        content: `${item.status}: ${item.changes.map(({ path }) => path).join(", ")}`,
        isError: item.status !== "completed",
      };
    case "mcpToolCall":
      return {
        name: `mcp__${item.server}__${item.tool}`,
        category: "mcp",
        input: item.arguments,
        content: item.error?.message ?? (item.result ? textOf(item.result.content) : ""),
        isError: item.status !== "completed",
      };
    case "dynamicToolCall":
      return {
        name: item.tool,
        category: "other",
        input: item.arguments,
        content: textOf(item.contentItems ?? []),
        isError: item.success === false || item.status === "failed",
      };
    case "collabAgentToolCall":
      return {
        name: item.tool,
        category: "agent",
        input: { prompt: item.prompt, agents: item.receiverThreadIds },
        content: JSON.stringify(item.agentsStates),
        isError: item.status === "failed",
      };
    case "webSearch":
      return { name: "web_search", category: "search", input: item, content: "", isError: false };
    case "imageView":
      return {
        name: "view_image",
        category: "other",
        input: { path: item.path },
        content: "",
        isError: false,
      };
    case "imageGeneration":
    case "sleep":
      return { name: item.type, category: "other", input: item, content: "", isError: false };
    default:
      return undefined;
  }
}

/** The text of parts such as `{ type: "text", text }`; other parts become JSON. */
function textOf(parts: readonly unknown[]): string {
  return parts
    .map((part) => {
      const text = (part as { text?: unknown } | null)?.text;
      return typeof text === "string" ? text : JSON.stringify(part);
    })
    .join("\n");
}
