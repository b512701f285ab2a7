/** A value of Codex's configuration. */
type CodexConfigValue = string | number | boolean | CodexConfigValue[] | CodexConfigObject;

type CodexConfigObject = { [key: string]: CodexConfigValue };

/** Options of `Codex`. */
export type CodexOptions = {
  /** Path of the codex binary. Default: the installed one. */
  codexPathOverride?: string;
  /** The model's endpoint: Codex's setting `openai_base_url`. */
  baseUrl?: string;
  apiKey?: string;
  /** Overrides of `config.toml`. Nested objects become dotted keys. */
  config?: CodexConfigObject;
  /** Overrides as `key=value` with a TOML value. They take precedence over `config`. */
  configOverrides?: string[];
  /** The complete environment of Codex. If set, `process.env` is not inherited. */
  env?: Record<string, string>;
};

/** When Codex asks for approval. There is no user to ask here, so actions that need approval are always denied. */
export type ApprovalMode = "never" | "on-request" | "on-failure" | "untrusted";

export type SandboxMode = "read-only" | "workspace-write" | "danger-full-access";

export type ModelReasoningEffort =
  | "minimal"
  | "low"
  | "medium"
  | "high"
  | "xhigh"
  | "max"
  | "ultra"
  | "persistent";

export type WebSearchMode = "disabled" | "cached" | "live";

/** Options of a thread. */
export type ThreadOptions = {
  model?: string;
  /** The source of the thread, for analytics. Only used for a new thread. */
  threadSource?: string;
  sandboxMode?: SandboxMode;
  /** The working directory. Default: that of the program. */
  workingDirectory?: string;
  /** Allows working directories outside a Git repository. */
  skipGitRepoCheck?: boolean;
  modelReasoningEffort?: ModelReasoningEffort;
  /** Whether commands have network access in the `workspace-write` sandbox. */
  networkAccessEnabled?: boolean;
  webSearchMode?: WebSearchMode;
  /** Enables (`live`) or disables web search. `webSearchMode` takes precedence. */
  webSearchEnabled?: boolean;
  approvalPolicy?: ApprovalMode;
  /** Additional folders that the agent may write to. */
  additionalDirectories?: string[];
};

export type CyberAccessProgram = "standard" | "daybreak_blue" | "daybreak_red";

/** Options of a turn. */
export type TurnOptions = {
  /** The OpenAI cyber access program. Default: chosen by the server. */
  cyberAccessProgram?: CyberAccessProgram;
  /** JSON Schema of the final message. */
  outputSchema?: unknown;
  /** Interrupts the turn when it aborts. The call then rejects with an `AbortError`. */
  signal?: AbortSignal;
};
