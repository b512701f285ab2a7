/** An MCP server for one session. */
export interface McpServerSpec {
  readonly name: string;
  /** Default `stdio`. */
  readonly type?: "stdio" | "http" | undefined;
  /** Command, for `stdio`. */
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** URL, for `http`. */
  readonly url?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Answers to the agent's permission requests. Built-in safety denials take precedence. */
export interface PermissionConfig {
  /** Regular expressions for commands. If there are any, only matching commands are allowed. */
  readonly allowPatterns?: readonly string[] | undefined;
  /** Regular expressions for denied commands. They take precedence over `allowPatterns`. */
  readonly disallowPatterns?: readonly string[] | undefined;
  /** Decision for other requests. Default: `allow`. `prompt` denies unless the provider has a handler for it. */
  readonly defaultDecision?: "allow" | "deny" | "prompt" | undefined;
}

export interface CodeIntelligenceEnforcement {
  readonly enforceUsage: boolean;
  /** Number of attempts after which the agent may fall back to text search. */
  readonly fallbackAfterAttempt?: number | undefined;
}

/** The task of an agent, with its settings and limits. Serialisable as JSON, except for the callback. */
export interface AgentSpec {
  /** The task. */
  readonly prompt: string;
  /** Working directory. An absolute path. */
  readonly cwd: string;
  /** Environment variables for the agent's commands, in addition to inherited ones. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Whether the agent runs unattended and must not wait for a person. Default: true. */
  readonly autonomous?: boolean | undefined;
  /** Whether the agent's commands run in a sandbox. Default: true. */
  readonly sandboxEnabled?: boolean | undefined;
  /** What the sandbox permits. Default: `workspace-write`. */
  readonly sandboxLevel?: "read-only" | "workspace-write" | "full-access" | undefined;
  /** Only these tools, such as `Bash(git push:*)`, `Edit`, `mcp__server__tool`. */
  readonly allowedTools?: readonly string[] | undefined;
  /** Denied tools. They take precedence over `allowedTools`. */
  readonly disallowedTools?: readonly string[] | undefined;
  readonly mcpStdioServers?: readonly McpServerSpec[] | undefined;
  /** The tools of those servers that are offered, as `mcp__server__tool`. Default: all. */
  readonly mcpToolNames?: readonly string[] | undefined;
  /** Maximum number of model calls of the session and its subagents. Beyond it, the session ends with `max_turns`. */
  readonly maxTurns?: number | undefined;
  /** Maximum input plus output tokens of the session and its subagents. Beyond it, the session ends with `budget_exceeded`. */
  readonly maxTokens?: number | undefined;
  /** Maximum cost in US dollars. Beyond it, the session ends with `budget_exceeded`. Requires a provider with prices. */
  readonly maxCostUsd?: number | undefined;
  readonly model?: string | undefined;
  readonly effort?: "low" | "medium" | "high" | "xhigh" | undefined;
  /** Replaces the agent's own instructions. */
  readonly baseInstructions?: string | undefined;
  /** Appended to the agent's own instructions. */
  readonly systemPromptAppend?: string | undefined;
  readonly permissionConfig?: PermissionConfig | undefined;
  readonly codeIntelligenceEnforcement?: CodeIntelligenceEnforcement | undefined;
  /** Provider-specific settings. */
  readonly providerConfig?: Readonly<Record<string, unknown>> | undefined;
  /** The provider of subagents. */
  readonly subAgentProvider?: string | undefined;
  /** Time limit of the session. Beyond it, the session ends with `deadline_exceeded`. */
  readonly timeoutMs?: number | undefined;
  /** Time limit for opening the session. Beyond it, the call rejects with `open_timeout`. */
  readonly openTimeoutMs?: number | undefined;
  /** Fields that must not be ignored. A provider that can't honour one of them rejects with `unsupported`. */
  readonly required?: readonly SpecField[] | undefined;
  /** Called with the PID of the process that runs the session. */
  readonly onProcessSpawned?: ((pid: number) => void) | undefined;
}

/** A field that a provider honours or lists as ignored. */
export type SpecField = Exclude<keyof AgentSpec, "required">;
