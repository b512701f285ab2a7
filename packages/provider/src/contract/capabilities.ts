/** Formats of tool permissions. */
export const TOOL_PERMISSION_FORMATS = ["claude", "codex", "spring-ai"] as const;

export type ToolPermissionFormat = (typeof TOOL_PERMISSION_FORMATS)[number];

/** What a provider supports, so that a runner can decide before it spawns. */
export interface AgentCapabilities {
  /** `inject` reaches a running agent. */
  readonly supportsMessageInjection: boolean;
  /** `resume` continues a session by its id. */
  readonly supportsSessionResume: boolean;
  /** `export` returns a session as bytes, and `import` adds one to another provider, which can then resume it. */
  readonly supportsSessionExport: boolean;
  /** Tools can be added with MCP servers. */
  readonly supportsToolPlugins: boolean;
  /** `baseInstructions` replaces the agent's own instructions, and a runner should set it. */
  readonly needsBaseInstructions: boolean;
  /** The agent asks for permission, and `permissionConfig` answers. */
  readonly needsPermissionConfig: boolean;
  /** The agent can be made to use code intelligence before it searches by text. */
  readonly supportsCodeIntelligenceEnforcement: boolean;
  /** Events of subagents are reported, with `subagent`. */
  readonly emitsSubagentEvents: boolean;
  /** `effort` is honoured. */
  readonly supportsReasoningEffort: boolean;
  /** The format of tool permissions. */
  readonly toolPermissionFormat: ToolPermissionFormat;
  /** `allowedTools` and `disallowedTools` are honoured. */
  readonly acceptsAllowedToolsList: boolean;
  /** `mcpStdioServers` are started per session. */
  readonly acceptsMcpServerSpec: boolean;
  /** Human-readable name. */
  readonly humanLabel: string;
}
