import type { McpServers } from "codexkit";
import type { AgentSpec, McpServerSpec } from "../../contract/agent-spec.ts";
import type { IgnoredField } from "../../contract/ignored-field.ts";
import { readToolRule } from "./tool-rule.ts";

export interface McpServersPlan {
  readonly servers: McpServers;
  readonly ignored: readonly IgnoredField[];
}

/** The MCP servers of one session, each limited to the tools that the spec lists. Every call requires approval. */
export function planMcpServers(spec: AgentSpec): McpServersPlan {
  const specs = spec.mcpStdioServers ?? [];
  const servers = Object.fromEntries(specs.map((server) => [server.name, planServer(server, spec)]));
  const strangers = (spec.mcpToolNames ?? []).filter(
    (name) => !specs.some((server) => isOf(name, server.name)),
  );
  const ignored: IgnoredField[] =
    strangers.length === 0
      ? []
      : [{ field: "mcpToolNames", reason: `no server in mcpStdioServers has ${strangers.join(", ")}` }];
  return { servers, ignored };
}

function planServer(server: McpServerSpec, spec: AgentSpec): McpServers[string] {
  const { name, type = "stdio", command = "", args, env, url = "", headers } = server;
  const offered = offeredTools(name, spec.mcpToolNames, spec.allowedTools);
  const common = { toolsApproval: "prompt", ...(offered ? { enabledTools: offered } : {}) } as const;
  if (type === "http") return { url, ...(headers ? { headers } : {}), ...common };
  return { command, ...(args ? { args } : {}), ...(env ? { env } : {}), ...common };
}

/** The tools of a server that are in every list. Undefined means all. */
function offeredTools(
  server: string,
  ...lists: readonly (readonly string[] | undefined)[]
): string[] | undefined {
  return lists
    .flatMap((list) => (list ? [namedTools(server, list)] : []))
    .filter((tools) => tools !== "all")
    .reduce<string[] | undefined>(
      (all, tools) => (all ? all.filter((tool) => tools.includes(tool)) : tools),
      undefined,
    );
}

function namedTools(server: string, list: readonly string[]): string[] | "all" {
  const rules = list.map(readToolRule).flatMap((rule) => ("rules" in rule ? rule.rules : []));
  const own = rules.filter((rule) => rule.kind === "mcp" && rule.server === server);
  const tools = own.map((rule) => ("tool" in rule ? rule.tool : undefined));
  return tools.some((tool) => tool === undefined || tool === "*")
    ? "all"
    : tools.filter((tool) => tool !== undefined);
}

function isOf(toolName: string, server: string): boolean {
  const rule = readToolRule(toolName);
  return "rules" in rule && rule.rules.some((one) => one.kind === "mcp" && one.server === server);
}
