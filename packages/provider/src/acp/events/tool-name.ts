import { z } from "zod";
import type { ToolCallPart } from "./session-notification.ts";

/** A tool of an MCP server. */
export interface McpTool {
  readonly server: string;
  readonly tool: string;
  /** The tool's input, if the agent wraps it. */
  readonly input?: unknown;
}

/** The agent's name for the tool: `name` of the protocol, or the agent-specific fields that have it. */
const agentName = z.union([
  z.looseObject({ name: z.string().min(1) }).transform(({ name }) => name),
  z
    .looseObject({ _meta: z.looseObject({ toolName: z.string().min(1) }) })
    .transform(({ _meta }) => _meta.toolName),
  z
    .looseObject({ _meta: z.looseObject({ claudeCode: z.looseObject({ toolName: z.string().min(1) }) }) })
    .transform(({ _meta }) => _meta.claudeCode.toolName),
]);

export function toolNameOf(part: ToolCallPart): string | undefined {
  return agentName.safeParse(part).data;
}

const wrappedCall = z.looseObject({
  server: z.string().min(1),
  tool: z.string().min(1),
  arguments: z.unknown().optional(),
});

/**
 * Recognises a call of a server's tool. ACP has no field for it: agents wrap the input as `{server, tool, arguments}`, name the
 * tool after its server, or write both into the title. Except for `mcp__server__tool`, a name or a title counts only for a
 * server that the session was given.
 */
export function mcpToolOf(part: ToolCallPart, servers: readonly string[]): McpTool | undefined {
  const wrapped = wrappedCall.safeParse(part.rawInput).data;
  if (wrapped) return { server: wrapped.server, tool: wrapped.tool, input: wrapped.arguments ?? {} };
  const names = [toolNameOf(part), part.title ?? undefined].filter((name) => name !== undefined);
  for (const name of names) {
    const found = /^mcp__(?<server>.+?)__(?<tool>.+)$/.exec(name)?.groups;
    if (found) return { server: found["server"] ?? "", tool: found["tool"] ?? "" };
  }
  for (const server of servers) {
    for (const name of names) {
      const tool = toolOf(name, server);
      if (tool !== undefined) return { server, tool };
    }
  }
  return undefined;
}

/** `server_tool`, `mcp_server_tool`, or `tool (server MCP Server)`, with characters that models don't accept replaced. */
function toolOf(name: string, server: string): string | undefined {
  const safe = server.replaceAll(/[^\w-]/g, "_");
  const suffix = ` (${server} MCP Server)`;
  const candidates = [
    ...(name.endsWith(suffix) ? [name.slice(0, -suffix.length)] : []),
    ...[`mcp_${safe}_`, `${safe}_`]
      .filter((prefix) => name.startsWith(prefix))
      .map((prefix) => name.slice(prefix.length)),
  ];
  return candidates.find((tool) => /^\S+$/.test(tool));
}
