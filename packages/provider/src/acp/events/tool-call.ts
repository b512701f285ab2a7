import type { ToolCategory } from "../../contract/agent-event.ts";
import type { ToolCallPart, ToolContent } from "./session-notification.ts";

/** What is known of a tool call, put together from its parts. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly kind: string;
  readonly content: readonly ToolContent[];
  readonly paths: readonly string[];
  readonly input: unknown;
  readonly output: unknown;
}

/** Lays a part over what was known; what it does not say stays. */
export function mergeToolCall(before: ToolCall | undefined, part: ToolCallPart): ToolCall {
  const title = part.title ?? before?.title ?? "";
  return {
    id: part.toolCallId,
    title,
    name: part.name ?? before?.name ?? part.kind ?? (title || "tool"),
    kind: part.kind ?? before?.kind ?? "other",
    content: part.content ?? before?.content ?? [],
    paths: part.locations?.map(({ path }) => path) ?? before?.paths ?? [],
    input: part.rawInput ?? before?.input,
    output: part.rawOutput ?? before?.output,
  };
}

const CATEGORIES: Readonly<Record<string, ToolCategory>> = {
  execute: "command",
  edit: "edit",
  delete: "edit",
  move: "edit",
  search: "search",
  read: "search",
  fetch: "search",
};

/** ACP has no kind for the tools of servers; agents call them `mcp__server__tool`. */
export function categoryOf({ name, kind }: ToolCall): ToolCategory {
  return name.startsWith("mcp__") ? "mcp" : (CATEGORIES[kind] ?? "other");
}

/** What a tool gave, as text. */
export function outputOf({ content, output }: ToolCall): string {
  const texts = content.map(textOf).filter((text) => text !== "");
  if (texts.length > 0) return texts.join("\n");
  if (output === undefined || output === null) return "";
  return typeof output === "string" ? output : JSON.stringify(output);
}

function textOf({ type, content, path }: ToolContent): string {
  if (type === "diff") return `changed ${path ?? "a file"}`;
  return content?.text ?? "";
}
