import type { JSONValue } from "@ai-sdk/provider";

// Type aliases with mutable arrays throughout: interfaces and readonly arrays are not assignable to `providerOptions`.

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

/** What commands may do without an approval, in detail. */
export type SandboxPolicyOption =
  | { type: "dangerFullAccess" }
  | { type: "readOnly"; networkAccess?: boolean | undefined }
  | {
      type: "workspaceWrite";
      /** Folders that commands may write to, in addition to `cwd`; absolute. */
      writableRoots?: string[] | undefined;
      networkAccess?: boolean | undefined;
      excludeTmpdirEnvVar?: boolean | undefined;
      excludeSlashTmp?: boolean | undefined;
    }
  /** Codex already runs inside a sandbox and does not create one. */
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

/** Options for all calls or for one call. */
export type SharedOptions = {
  /** The folder that Codex works in; absolute. Default: the working directory of the codex process. */
  cwd?: string | undefined;
  /**
   * Gives Codex an empty temporary folder as `cwd`: one per call, removed at the end of its turn, or one per conversation,
   * removed when its thread is released. Default: none.
   */
  workspace?: "call" | "conversation" | undefined;
  /** What commands may do without an approval. Default: Codex's configuration. */
  sandbox?: "read-only" | "workspace-write" | "danger-full-access" | undefined;
  /** The same in detail. Takes precedence over `sandbox`. */
  sandboxPolicy?: SandboxPolicyOption | undefined;
  /** When Codex asks before it acts. Default: Codex's configuration. */
  approvalPolicy?: ApprovalPolicyOption | undefined;
  /** Who answers Codex's approval requests: `"user"` (this program) or Codex's own reviewing agent. Default: `"user"`. */
  approvalsReviewer?: "user" | "auto_review" | undefined;
  /** How hard the model thinks. The call's `reasoning` takes precedence. Default: the model's. */
  effort?: string | undefined;
  /** The same as `effort`, by the name that other providers use. */
  reasoningEffort?: string | undefined;
  /** How detailed the reasoning summary is. Default: Codex's configuration. */
  summary?: "auto" | "concise" | "detailed" | "none" | undefined;
  /** The same as `summary`, by the name that other providers use. */
  reasoningSummary?: "auto" | "concise" | "detailed" | "none" | undefined;
  /** How long answers are. Default: Codex's configuration. */
  textVerbosity?: "low" | "medium" | "high" | undefined;
  serviceTier?: string | undefined;
  /** Whether Codex stores the thread, so that another process can continue it. Default: false. */
  persist?: boolean | undefined;
  /** MCP servers of the thread, by name; those of a call are added to the provider's. */
  mcpServers?: Record<string, McpServerOption> | undefined;
  /** Instructions in addition to the system messages of the prompt. Those of a call are added to the provider's. */
  instructions?: string | undefined;
  /** Replaces Codex's own instructions. */
  baseInstructions?: string | undefined;
  /** Other settings of Codex's configuration, for the thread. Those of a call are merged into the provider's, key by key. */
  config?: Record<string, JSONValue> | undefined;
  /** Whether plans are streamed, as calls of `codex_plan`. Default: true. */
  plans?: boolean | undefined;
  /**
   * Whether mentions in the user's text become mentions of Codex: `@src/main.ts` for a file below `cwd`,
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
  /** Works on a copy of the thread: whole, through a turn, or up to one. Default: false. */
  fork?: boolean | { lastTurnId: string } | { beforeTurnId: string } | undefined;
  /** Compacts the thread's history before the turn. Default: false. */
  compact?: boolean | undefined;
  /** Skills to use, each with the path of its SKILL.md. Also mention `$name` in the text. */
  skills?: NamedPath[] | undefined;
  /** Files, apps (`app://id`) and plugins (`plugin://name@market`) that the text mentions as `@name`. */
  mentions?: NamedPath[] | undefined;
};
