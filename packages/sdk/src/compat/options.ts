/** A value of Codex's configuration. */
type CodexConfigValue = string | number | boolean | CodexConfigValue[] | CodexConfigObject;

type CodexConfigObject = { [key: string]: CodexConfigValue };

/** How Codex is found and set up. */
export type CodexOptions = {
  /** The codex to run, instead of the installed one. */
  codexPathOverride?: string;
  /** Where the model is reached: Codex's setting `openai_base_url`. */
  baseUrl?: string;
  apiKey?: string;
  /** Settings laid over `config.toml`. Nested objects become dotted names. */
  config?: CodexConfigObject;
  /** Settings as `key=value` with a value in TOML. They come after `config` and win over it. */
  configOverrides?: string[];
  /** The whole environment of Codex: with it, nothing of `process.env` is passed on. */
  env?: Record<string, string>;
};

/** When Codex asks. Without a person to ask it never does, whatever is said here: what it may not do is refused. */
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

/** How a thread works. */
export type ThreadOptions = {
  model?: string;
  /** What kind of thread it is, for analytics. Counts when the thread is new. */
  threadSource?: string;
  sandboxMode?: SandboxMode;
  /** The folder to work in: the program's own unless told. */
  workingDirectory?: string;
  /** Without it Codex refuses to work in a folder that is in no Git repository. */
  skipGitRepoCheck?: boolean;
  modelReasoningEffort?: ModelReasoningEffort;
  /** Whether commands reach the network in the sandbox `workspace-write`. */
  networkAccessEnabled?: boolean;
  webSearchMode?: WebSearchMode;
  /** The same as a yes (`live`) or no; `webSearchMode` wins. */
  webSearchEnabled?: boolean;
  approvalPolicy?: ApprovalMode;
  /** More folders that the agent may write to. */
  additionalDirectories?: string[];
};

export type CyberAccessProgram = "standard" | "daybreak_blue" | "daybreak_red";

/** How one turn works. */
export type TurnOptions = {
  /** Which of OpenAI's cyber programs to ask for; the server chooses unless told. */
  cyberAccessProgram?: CyberAccessProgram;
  /** A JSON Schema that the final message must follow. */
  outputSchema?: unknown;
  /** Ends the turn when it fires; the call then rejects with an `AbortError`. */
  signal?: AbortSignal;
};
