import type { JSONValue } from "@ai-sdk/provider";

// Type aliases with mutable arrays, because interfaces and readonly arrays are not assignable to `providerOptions`.

/** When Codex asks before it acts. */
export type ApprovalPolicyOption =
  | "untrusted"
  | "on-request"
  | "never"
  | {
      granular: {
        sandbox_approval: boolean;
        rules: boolean;
        skill_approval: boolean;
        request_permissions: boolean;
        mcp_elicitations: boolean;
      };
    };

/** A detailed definition of what commands may do without an approval. */
export type SandboxPolicyOption =
  | { type: "dangerFullAccess" }
  | { type: "readOnly"; networkAccess?: boolean | undefined }
  | {
      type: "workspaceWrite";
      /** Absolute paths of folders that commands may write to, in addition to `cwd`. */
      writableRoots?: string[] | undefined;
      networkAccess?: boolean | undefined;
      excludeTmpdirEnvVar?: boolean | undefined;
      excludeSlashTmp?: boolean | undefined;
    }
  /** Codex already runs inside a sandbox, so it creates none. */
  | { type: "externalSandbox"; networkAccess?: "restricted" | "enabled" | undefined };

type CommonMcpServerOption = {
  enabled?: boolean | undefined;
  /** Whether starting the thread fails if this server does not start. */
  required?: boolean | undefined;
  startupTimeoutMs?: number | undefined;
  toolTimeoutMs?: number | undefined;
  enabledTools?: string[] | undefined;
  disabledTools?: string[] | undefined;
  toolsApproval?: "auto" | "prompt" | "writes" | "approve" | undefined;
  parallelToolCalls?: boolean | undefined;
};

/** An MCP server: a child process of Codex, or one that it reaches over HTTP. */
export type McpServerOption = CommonMcpServerOption &
  (
    | {
        command: string;
        args?: string[] | undefined;
        env?: Record<string, string> | undefined;
        /** Environment variables that the child inherits from Codex. */
        envVars?: string[] | undefined;
        cwd?: string | undefined;
      }
    | {
        url: string;
        headers?: Record<string, string> | undefined;
        envHeaders?: Record<string, string> | undefined;
        bearerTokenEnvVar?: string | undefined;
        scopes?: string[] | undefined;
      }
  );

/** Options that can be set for all calls or for one call. */
export type SharedOptions = {
  /** Absolute path of the folder that Codex works in. Default: the working directory of the codex process. */
  cwd?: string | undefined;
  /**
   * Gives Codex an empty temporary folder as `cwd`. `"call"` creates one per call and removes it when the turn ends;
   * `"conversation"` creates one per conversation and removes it when the thread is released. Default: none.
   */
  workspace?: "call" | "conversation" | undefined;
  /** What commands may do without an approval. Default: Codex's configuration. */
  sandbox?: "read-only" | "workspace-write" | "danger-full-access" | undefined;
  /** A detailed sandbox policy. Takes precedence over `sandbox`. */
  sandboxPolicy?: SandboxPolicyOption | undefined;
  /** When Codex asks before it acts. Default: Codex's configuration. */
  approvalPolicy?: ApprovalPolicyOption | undefined;
  /** Who answers approval requests: `"user"` (this program) or Codex's own reviewing agent. Default: `"user"`. */
  approvalsReviewer?: "user" | "auto_review" | undefined;
  /** How hard the model thinks. The call's `reasoning` takes precedence. Default: the model's default. */
  effort?: string | undefined;
  /** Alias of `effort`, under the name that other providers use. */
  reasoningEffort?: string | undefined;
  /** How detailed the reasoning summary is. Default: Codex's configuration. */
  summary?: "auto" | "concise" | "detailed" | "none" | undefined;
  /** Alias of `summary`, under the name that other providers use. */
  reasoningSummary?: "auto" | "concise" | "detailed" | "none" | undefined;
  /** How long answers are. Default: Codex's configuration. */
  textVerbosity?: "low" | "medium" | "high" | undefined;
  serviceTier?: string | undefined;
  /** Whether Codex stores the thread, so that another process can continue it. Default: false. */
  persist?: boolean | undefined;
  /** MCP servers for the thread, by name. A call's servers are added to the provider's. */
  mcpServers?: Record<string, McpServerOption> | undefined;
  /** Instructions in addition to the prompt's system messages. A call's instructions are added to the provider's. */
  instructions?: string | undefined;
  /** Replaces Codex's own instructions. */
  baseInstructions?: string | undefined;
  /** Other Codex configuration for the thread. A call's configuration is merged into the provider's, key by key. */
  config?: Record<string, JSONValue> | undefined;
  /** Whether plans are streamed, as calls to `codex_plan`. Default: true. */
  plans?: boolean | undefined;
  /**
   * Whether mentions in the user's text are converted to Codex mentions: `@src/main.ts` for a file below `cwd`,
   * `[@name](app://id)`, `[@name](plugin://name@market)`, and `[$name](/path/SKILL.md)` for a skill. Default: false.
   */
  extractMentions?: boolean | undefined;
};

type NamedPath = { name: string; path: string };

/** `providerOptions.codex` of a call. */
export type CodexLanguageModelOptions = SharedOptions & {
  /**
   * The thread to continue, regardless of the messages. Never accept it from a browser unchecked: anyone who knows the id of
   * a thread can read and continue it.
   */
  threadId?: string | undefined;
  /** Works on a copy of the thread: all of it, through `lastTurnId`, or up to `beforeTurnId`. Default: false. */
  fork?: boolean | { lastTurnId: string } | { beforeTurnId: string } | undefined;
  /** Compacts the thread's history before the turn. Default: false. */
  compact?: boolean | undefined;
  /** Skills to use, each with the path of its SKILL.md. The text should also mention `$name`. */
  skills?: NamedPath[] | undefined;
  /** Files, apps (`app://id`) and plugins (`plugin://name@market`) that the text mentions as `@name`. */
  mentions?: NamedPath[] | undefined;
};
