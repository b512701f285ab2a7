/** An MCP server for one session. */
export interface McpServerSpec {
  readonly name: string;
  /** Default `stdio`. */
  readonly type?: "stdio" | "http" | undefined;
  /** What to start, for `stdio`. */
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Where it is, for `http`. */
  readonly url?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Who answers when the agent asks for permission. Denials that keep the machine safe come before all of this. */
export interface PermissionConfig {
  /** Regular expressions over commands. With any, only what matches is allowed. */
  readonly allowPatterns?: readonly string[] | undefined;
  /** Regular expressions over commands that are denied; they win over `allowPatterns`. */
  readonly disallowPatterns?: readonly string[] | undefined;
  /** What happens to the rest. Default `allow`. Nobody is there to be prompted: `prompt` denies. */
  readonly defaultDecision?: "allow" | "deny" | "prompt" | undefined;
}

export interface CodeIntelligenceEnforcement {
  readonly enforceUsage: boolean;
  /** After how many attempts the agent may search by text after all. */
  readonly fallbackAfterAttempt?: number | undefined;
}

/** What an agent is asked to do, and under which conditions. All but the callback can be written as JSON. */
export interface AgentSpec {
  /** The task. */
  readonly prompt: string;
  /** The folder to work in, absolute. */
  readonly cwd: string;
  /** Variables for what the agent runs, besides those it inherits. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Nobody watches: the agent must not wait for a person. Default true. */
  readonly autonomous?: boolean | undefined;
  /** Whether what the agent runs is confined. Default true. */
  readonly sandboxEnabled?: boolean | undefined;
  /** How far. Default `workspace-write`. */
  readonly sandboxLevel?: "read-only" | "workspace-write" | "full-access" | undefined;
  /** Only these tools, such as `Bash(git push:*)`, `Edit`, `mcp__server__tool`. */
  readonly allowedTools?: readonly string[] | undefined;
  /** Not these tools; they win over `allowedTools`. */
  readonly disallowedTools?: readonly string[] | undefined;
  readonly mcpStdioServers?: readonly McpServerSpec[] | undefined;
  /** The tools of those servers that are offered, as `mcp__server__tool`. Default: all. */
  readonly mcpToolNames?: readonly string[] | undefined;
  /** How often the model may be called, by the session and its subagents, before the session ends with `max_turns`. */
  readonly maxTurns?: number | undefined;
  /** Input and output tokens of the session and its subagents; a session that uses more ends with `budget_exceeded`. */
  readonly maxTokens?: number | undefined;
  /** US dollars; a session that costs more ends with `budget_exceeded`. Needs a provider that knows prices. */
  readonly maxCostUsd?: number | undefined;
  readonly model?: string | undefined;
  readonly effort?: "low" | "medium" | "high" | "xhigh" | undefined;
  /** In place of the agent's own instructions. */
  readonly baseInstructions?: string | undefined;
  /** After the agent's own instructions. */
  readonly systemPromptAppend?: string | undefined;
  readonly permissionConfig?: PermissionConfig | undefined;
  readonly codeIntelligenceEnforcement?: CodeIntelligenceEnforcement | undefined;
  /** Settings of the provider's own, as it documents them. */
  readonly providerConfig?: Readonly<Record<string, unknown>> | undefined;
  /** The provider that agents below this one run on. */
  readonly subAgentProvider?: string | undefined;
  /** How long the session may take; then it ends with `deadline_exceeded`. */
  readonly timeoutMs?: number | undefined;
  /** How long `spawn` or `resume` may take to open the session; then the call rejects with `open_timeout`. */
  readonly openTimeoutMs?: number | undefined;
  /** Fields that must not be ignored: a provider that can't honour one of them refuses with `unsupported`. */
  readonly required?: readonly SpecField[] | undefined;
  /** Hears the id of the process that serves the session, once it is known. */
  readonly onProcessSpawned?: ((pid: number) => void) | undefined;
}

/** A field that a provider translates, or explains why it does not. */
export type SpecField = Exclude<keyof AgentSpec, "required">;
