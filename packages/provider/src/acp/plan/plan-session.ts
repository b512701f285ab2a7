import type { AgentCapabilities, McpServer } from "@agentclientprotocol/sdk";
import type { Policy } from "@codexkit/approvals";
import { z } from "zod";
import type { AgentSpec, McpServerSpec, PermissionConfig, SpecField } from "../../contract/agent-spec.ts";
import type { IgnoredField } from "../../contract/ignored-field.ts";
import { ProviderError } from "../../contract/provider-error.ts";
import { permissionPolicy } from "../permissions/permission-policy.ts";

/** `providerConfig` of an ACP agent. */
export interface AcpProviderConfig {
  /** The mode of the session, by its id or name. */
  readonly mode?: string | undefined;
  /** Options of the session, by their ids. */
  readonly options?: Readonly<Record<string, string | boolean>> | undefined;
  /** Sent as `_meta` when the session is created. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
}

/** Everything that the agent receives for one session. */
export interface SessionPlan {
  /** For `session/new`, `session/load` and `session/resume`. */
  readonly session: {
    readonly cwd: string;
    readonly mcpServers: McpServer[];
    readonly _meta?: Record<string, unknown>;
  };
  readonly prompt: string;
  /** Options to choose once the session is open. */
  readonly choices: AcpProviderConfig & Pick<AgentSpec, "model" | "effort">;
  /** Answers the agent's permission requests. */
  readonly policy: Policy;
  /** Fields that are known to be ignored before the session is open. */
  readonly ignored: readonly IgnoredField[];
}

export interface SessionPlanContext {
  readonly capabilities: AgentCapabilities;
  readonly supportsReasoningEffort: boolean;
  readonly asksPermission: AsksPermission;
}

/**
 * When the agent asks for permission: `always` before each command, edit and other tool, or `sometimes`. ACP has no way to
 * find out: agents decide by their own modes, rules and sandboxes.
 */
export type AsksPermission = "always" | "sometimes";

const NO_COUNTERPART: Partial<Record<SpecField, string>> = {
  env: "the sessions share one process: set `env` of the provider instead",
  sandboxEnabled: "ACP has no sandbox: only permission requests are checked against it",
  sandboxLevel: "ACP has no sandbox: only permission requests are checked against it",
  allowedTools: "the agent has its own tools, and ACP can't select among them",
  disallowedTools: "the agent has its own tools, and ACP can't select among them",
  mcpToolNames: "ACP enables all tools of a server or none",
  maxTurns: "ACP does not report model calls",
  maxTokens: "the agent does not report tokens during the session",
  maxCostUsd: "the agent does not report its cost during the session",
  baseInstructions: "ACP has no instructions other than the prompt",
  systemPromptAppend: "ACP has no instructions other than the prompt",
  codeIntelligenceEnforcement: "ACP can't withhold a tool",
  subAgentProvider: "the agent starts its own subagents",
};

const config = z.strictObject({
  mode: z.string().min(1).optional(),
  options: z.record(z.string(), z.union([z.string(), z.boolean()])).optional(),
  meta: z.record(z.string(), z.unknown()).optional(),
});

/**
 * Translates a spec, field by field. Pure: the same spec and capabilities give the same plan.
 * @throws {ProviderError} `invalid_spec` for an invalid pattern or setting.
 */
export function planSession(spec: AgentSpec, context: SessionPlanContext): SessionPlan {
  const { meta, ...settings } = readConfig(spec.providerConfig);
  const servers = planServers(spec.mcpStdioServers ?? [], context.capabilities);
  const { supportsReasoningEffort } = context;
  return {
    session: { cwd: spec.cwd, mcpServers: servers.offered, ...(meta && { _meta: { ...meta } }) },
    prompt: spec.prompt,
    choices: { ...settings, model: spec.model, effort: supportsReasoningEffort ? spec.effort : undefined },
    policy: permissionPolicy(spec),
    ignored: [
      ...withoutCounterpart(spec),
      ...servers.ignored,
      ...when(
        context.asksPermission === "sometimes" && denies(spec.permissionConfig),
        "permissionConfig",
        'the agent decides when to ask for permission, and denials apply only then: configure it to ask before everything, and launch the provider with asksPermission: "always"',
      ),
      ...when(spec.autonomous === false, "autonomous", "there is no handler for questions"),
      ...when(
        spec.effort !== undefined && !supportsReasoningEffort,
        "effort",
        "the provider was launched without supportsReasoningEffort",
      ),
    ],
  };
}

/** Whether a config denies anything. */
function denies({ allowPatterns, disallowPatterns, defaultDecision }: PermissionConfig = {}): boolean {
  return (
    (allowPatterns ?? []).length > 0 ||
    (disallowPatterns ?? []).length > 0 ||
    (defaultDecision !== undefined && defaultDecision !== "allow")
  );
}

function readConfig(input: unknown = {}): AcpProviderConfig {
  const parsed = config.safeParse(input);
  if (parsed.success) return parsed.data;
  const message = `providerConfig of an ACP agent has the fields mode, options and meta. ${z.prettifyError(parsed.error)}`;
  throw new ProviderError("invalid_spec", message, { cause: parsed.error });
}

function withoutCounterpart(spec: AgentSpec): IgnoredField[] {
  return (Object.entries(NO_COUNTERPART) as [SpecField, string][])
    .filter(([field]) => spec[field] !== undefined)
    .map(([field, reason]) => ({ field, reason }));
}

function planServers(
  servers: readonly McpServerSpec[],
  { mcpCapabilities }: AgentCapabilities,
): { readonly offered: McpServer[]; readonly ignored: readonly IgnoredField[] } {
  const can = ({ type }: McpServerSpec): boolean => type !== "http" || mcpCapabilities?.http === true;
  const left = servers.filter((server) => !can(server)).map(({ name }) => name);
  const reason = `the agent does not support MCP servers over http: ${left.join(", ")} omitted`;
  return {
    offered: servers.filter(can).map(toServer),
    ignored: when(left.length > 0, "mcpStdioServers", reason),
  };
}

function toServer({
  name,
  type,
  command = "",
  args = [],
  env = {},
  url = "",
  headers = {},
}: McpServerSpec): McpServer {
  const pairs = (record: Readonly<Record<string, string>>): { name: string; value: string }[] =>
    Object.entries(record).map(([key, value]) => ({ name: key, value }));
  return type === "http"
    ? { type, name, url, headers: pairs(headers) }
    : { name, command, args: [...args], env: pairs(env) };
}

function when(condition: boolean, field: SpecField, reason: string): IgnoredField[] {
  return condition ? [{ field, reason }] : [];
}
