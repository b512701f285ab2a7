/** How a provider wants to be told which tools are permitted. */
export const TOOL_PERMISSION_FORMATS = ["claude", "codex", "spring-ai"] as const;

export type ToolPermissionFormat = (typeof TOOL_PERMISSION_FORMATS)[number];

/** What a provider can do, so that a runner decides before it spawns. Each flag is proven by the conformance suite or a test. */
export interface AgentCapabilities {
  /** `inject` reaches an agent in the middle of its work. */
  readonly supportsMessageInjection: boolean;
  /** `resume` goes on with a session by its id. */
  readonly supportsSessionResume: boolean;
  /** `export` returns a session as bytes, and `import` adds one to another provider, which can then resume it. */
  readonly supportsSessionExport: boolean;
  /** Tools can be added, by MCP servers. */
  readonly supportsToolPlugins: boolean;
  /** The agent takes `baseInstructions` in place of its own, and a runner should give them. */
  readonly needsBaseInstructions: boolean;
  /** The agent asks before it acts, and `permissionConfig` is what answers. */
  readonly needsPermissionConfig: boolean;
  /** The agent can be made to use code intelligence before it searches by text. */
  readonly supportsCodeIntelligenceEnforcement: boolean;
  /** What agents below this one do is shown too, marked with `subagent`. */
  readonly emitsSubagentEvents: boolean;
  /** `effort` is honoured. */
  readonly supportsReasoningEffort: boolean;
  /** The grammar of `permissionConfig`'s patterns. */
  readonly toolPermissionFormat: ToolPermissionFormat;
  /** `allowedTools` and `disallowedTools` are honoured. */
  readonly acceptsAllowedToolsList: boolean;
  /** `mcpStdioServers` are started for the one session. */
  readonly acceptsMcpServerSpec: boolean;
  /** What a person reads in a list of providers. */
  readonly humanLabel: string;
}
