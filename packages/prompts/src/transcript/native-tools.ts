import type { v2 } from "codexkit";

/** A call to one of Codex's own tools. */
export interface NativeCall {
  readonly tool: string;
  readonly input: unknown;
  readonly success: boolean;
  readonly text: string;
  readonly durationMs: number;
}

/** Converts a completed item to a tool call. Returns undefined for other items and for calls to the prompt's own tools. */
export function toNativeCall(item: v2.ThreadItem): NativeCall | undefined {
  switch (item.type) {
    case "commandExecution":
      return {
        tool: "codex:command",
        input: { command: item.command, cwd: item.cwd },
        success: item.status === "completed" && (item.exitCode ?? 0) === 0,
        text: item.aggregatedOutput ?? "",
        durationMs: item.durationMs ?? 0,
      };
    case "fileChange":
      return {
        tool: "codex:file_change",
        input: { changes: item.changes.map(({ path, kind }) => ({ path, kind: kind.type })) },
        success: item.status === "completed",
        text: item.changes.map(({ diff }) => diff).join("\n"),
        durationMs: 0,
      };
    case "mcpToolCall":
      return {
        tool: `codex:mcp:${item.server}.${item.tool}`,
        input: item.arguments,
        success: item.status === "completed",
        text: item.error?.message ?? JSON.stringify(item.result ?? null),
        durationMs: item.durationMs ?? 0,
      };
    case "webSearch":
      return {
        tool: "codex:web_search",
        input: { query: item.query },
        success: true,
        text: "",
        durationMs: 0,
      };
    default:
      return undefined;
  }
}

/** Whether an item may change files. */
export function mayChangeFiles({ type }: v2.ThreadItem): boolean {
  return type === "commandExecution" || type === "fileChange" || type === "mcpToolCall";
}
