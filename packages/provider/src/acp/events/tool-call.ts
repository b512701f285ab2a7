import type { ToolCategory } from "../../contract/agent-event.ts";
import type { ToolCallPart, ToolContent } from "./session-notification.ts";
import { mcpToolOf, toolNameOf } from "./tool-name.ts";
import { addOutput, NO_OUTPUT, type ToolOutput } from "./tool-output.ts";

/** A tool call, merged from its updates. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly isMcp: boolean;
  readonly title: string;
  readonly kind: string;
  readonly status: string;
  readonly content: readonly ToolContent[];
  readonly paths: readonly string[];
  readonly input: unknown;
  readonly output: ToolOutput;
}

/** Merges an update. Fields that it does not contain keep their values. */
export function mergeToolCall(
  before: ToolCall | undefined,
  part: ToolCallPart,
  servers: readonly string[],
): ToolCall {
  // In the protocol a call without a status is pending.
  const status = part.status ?? before?.status ?? "pending";
  const kind = part.kind ?? before?.kind ?? "other";
  const mcp = mcpToolOf(part, servers);
  return {
    id: part.toolCallId,
    ...nameOf(before, part, mcp && `mcp__${mcp.server}__${mcp.tool}`),
    title: part.title ?? before?.title ?? "",
    kind,
    status,
    content: part.content ?? before?.content ?? [],
    paths: part.locations?.map(({ path }) => path) ?? before?.paths ?? [],
    // Agents announce a call with an empty input while the model still writes it.
    input: mcp?.input ?? (hasInput(part) ? part.rawInput : (before?.input ?? part.rawInput ?? undefined)),
    // The content of a pending call describes it.
    output: status === "pending" ? NO_OUTPUT : addOutput(before?.output ?? NO_OUTPUT, part),
  };
}

/** Whether an update has a non-empty input. */
export function hasInput({ rawInput }: ToolCallPart): boolean {
  if (rawInput === undefined || rawInput === null) return false;
  return typeof rawInput !== "object" || Object.keys(rawInput).length > 0;
}

/** Titles are human-readable and change with every call, so they are not used as tool names. */
function nameOf(
  before: ToolCall | undefined,
  part: ToolCallPart,
  mcpName: string | undefined,
): Pick<ToolCall, "name" | "isMcp"> {
  if (before?.isMcp === true) return { name: before.name, isMcp: true };
  if (mcpName !== undefined) return { name: mcpName, isMcp: true };
  const kind = part.kind ?? before?.kind;
  return { name: toolNameOf(part) ?? before?.name ?? kind ?? "other", isMcp: false };
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

export function categoryOf({ isMcp, kind }: ToolCall): ToolCategory {
  return isMcp ? "mcp" : (CATEGORIES[kind] ?? "other");
}

/** The command in a title, which may be quoted as code. */
export function commandFromTitle(title: string): string {
  return title.replaceAll(/^`|`$/g, "");
}
