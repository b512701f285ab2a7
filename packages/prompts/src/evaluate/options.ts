import {
  type CodexEvent,
  type McpServers,
  type OptionKeys,
  rejectUnknownOptions,
  type RunOptions,
  type ServerRequestHandlers,
  type StartThreadOptions,
} from "codexkit";
import { isAbsolute } from "node:path";
import { checkValue, hasMethods, isCount, isFunction, isString } from "../check-value.ts";
import { PromptError } from "../errors.ts";
import type { Budget } from "../limits/budget.ts";
import type { Deadline } from "../limits/deadline.ts";
import type { PromptOverrides } from "../prompt/overrides.ts";
import type { PromptSessionEvent } from "../session/session-event.ts";
import type { PromptSession } from "../session/session.ts";
import type { TranscriptEntry } from "../transcript/transcript.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** When Codex asks for approval. With `on-request` and `untrusted`, `handlers` answer; requests without a handler are declined. */
export type PromptApprovalPolicy = "never" | "on-request" | "untrusted";

/** Settings of an evaluation's thread. */
export interface PromptThreadOptions {
  readonly model?: string;
  readonly effort?: NonNullable<RunOptions["effort"]>;
  readonly summary?: NonNullable<RunOptions["summary"]>;
  /** Default: the workspace's root, or the current folder. */
  readonly cwd?: string;
  readonly sandbox?: NonNullable<StartThreadOptions["sandbox"]>;
  /** Whether commands may use the network in the `workspace-write` sandbox. Default: false. */
  readonly network?: boolean;
  /** Environment variables for commands. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: "never". */
  readonly approvalPolicy?: PromptApprovalPolicy;
  /** Functions that answer approvals and questions. */
  readonly handlers?: ServerRequestHandlers;
  readonly mcpServers?: McpServers;
  /** Whether the thread is not stored. Can't be combined with `reuse`. Default: false. */
  readonly ephemeral?: boolean;
  /** Continues the session's last thread if its folder, workspace, tools and settings are unchanged. Default: false. */
  readonly reuse?: boolean;
  /** Other Codex configuration. */
  readonly config?: StartThreadOptions["config"];
}

export interface EvaluateOptions {
  /** Default: a new one. */
  readonly session?: PromptSession;
  readonly workspace?: Workspace;
  readonly budget?: Budget;
  readonly deadline?: Deadline;
  readonly signal?: AbortSignal;
  readonly overrides?: PromptOverrides;
  readonly thread?: PromptThreadOptions;
  /** How often the agent may continue after the completion checker rejects its result. Default: 10. */
  readonly maxContinuations?: number;
  /** What to do with the workspace if the evaluation fails. Default: "keep". */
  readonly onFailure?: "keep" | "restore";
  /** Receives the transcript. The evaluation neither waits for it nor fails if it throws or rejects. */
  readonly transcript?: (entry: TranscriptEntry) => void;
  /** Folder for debug bundles, one zip file per evaluation. */
  readonly bundle?: string;
}

/** An event of a running evaluation. */
export type EvaluationEvent =
  | { readonly type: "codex"; readonly event: CodexEvent }
  | { readonly type: "session"; readonly event: PromptSessionEvent }
  | {
      readonly type: "tool.progress";
      readonly tool: string;
      readonly callId: string;
      readonly message: string;
    }
  | { readonly type: "warning"; readonly message: string; readonly error?: unknown }
  /** The reader was too slow and missed events. */
  | { readonly type: "gap"; readonly missed: number };

const KNOWN: OptionKeys<EvaluateOptions> = {
  session: true,
  workspace: true,
  budget: true,
  deadline: true,
  signal: true,
  overrides: true,
  thread: true,
  maxContinuations: true,
  onFailure: true,
  transcript: true,
  bundle: true,
};

const KNOWN_THREAD: OptionKeys<PromptThreadOptions> = {
  model: true,
  effort: true,
  summary: true,
  cwd: true,
  sandbox: true,
  network: true,
  env: true,
  approvalPolicy: true,
  handlers: true,
  mcpServers: true,
  ephemeral: true,
  reuse: true,
  config: true,
};

const APPROVAL_POLICIES: readonly string[] = ["never", "on-request", "untrusted"];

/** @throws {CodexError} `invalid_argument` for unknown options, {@link PromptError} `invalid_option` for wrong values */
export function checkEvaluateOptions(options: EvaluateOptions): void {
  rejectUnknownOptions("evaluate", options, KNOWN);
  const { thread = {}, session } = options;
  rejectUnknownOptions("evaluate.thread", thread, KNOWN_THREAD);
  checkTypes(options);
  const policy: string = thread.approvalPolicy ?? "never";
  if (policy === "on-failure") {
    throw new PromptError(
      "invalid_option",
      'The approval policy "on-failure" is not supported: Codex would run the command again outside the sandbox. Use "on-request".',
    );
  }
  if (!APPROVAL_POLICIES.includes(policy)) {
    throw new PromptError(
      "invalid_option",
      `Unknown approval policy "${policy}". Valid values: ${APPROVAL_POLICIES.join(", ")}.`,
    );
  }
  if (thread.ephemeral && thread.reuse) {
    throw new PromptError(
      "invalid_option",
      "An ephemeral thread can't be reused. Remove `ephemeral` or `reuse`.",
    );
  }
  if (options.workspace?.isInTransaction) {
    throw new PromptError(
      "invalid_option",
      "A tool's handler can't evaluate another prompt in its own workspace, because they would wait for each other. Use another workspace, or none.",
    );
  }
  if (session?.isInTransaction) {
    throw new PromptError(
      "invalid_option",
      "A tool's handler can't evaluate another prompt in its own session, because they would wait for each other. Use a new session.",
    );
  }
}

type Check = (what: string, value: unknown, expected: string, isValid: (value: unknown) => boolean) => void;

const SANDBOXES: readonly unknown[] = ["read-only", "workspace-write", "danger-full-access"];
const SUMMARIES: readonly unknown[] = ["auto", "concise", "detailed", "none"];

/** Checked here because Codex would reject some of these only when the thread starts, and ignore others. */
function checkThreadTypes(thread: PromptThreadOptions, check: Check): void {
  const isBoolean = (value: unknown): boolean => typeof value === "boolean";
  const isName = (value: unknown): boolean => typeof value === "string" && value !== "";
  const isVariables = (value: unknown): boolean =>
    isObject(value) &&
    Object.entries(value).every(([name, text]) => /^[^=\0]+$/u.test(name) && isVariable(text));
  const isVariable = (value: unknown): boolean => typeof value === "string" && !value.includes("\0");
  check("thread.model", thread.model, "the name of a model", isName);
  check("thread.effort", thread.effort, "a string", isName);
  check("thread.summary", thread.summary, `one of ${SUMMARIES.join(", ")}`, (value) =>
    SUMMARIES.includes(value),
  );
  check("thread.sandbox", thread.sandbox, `one of ${SANDBOXES.join(", ")}`, (value) =>
    SANDBOXES.includes(value),
  );
  check("thread.network", thread.network, "a boolean", isBoolean);
  check("thread.ephemeral", thread.ephemeral, "a boolean", isBoolean);
  check("thread.reuse", thread.reuse, "a boolean", isBoolean);
  check("thread.env", thread.env, "an object that maps names to strings", isVariables);
  check("thread.handlers", thread.handlers, "an object of functions", isObject);
  check("thread.mcpServers", thread.mcpServers, "an object that maps names to servers", isObject);
  check("thread.config", thread.config, "an object", (value) => value === null || isObject(value));
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Rejects the most likely mistakes of callers without types, such as `budget: { totalTokens: 1000 }`. */
function checkTypes(options: EvaluateOptions): void {
  const { session, workspace, budget, deadline, signal, overrides, transcript, bundle, thread } = options;
  const check: Check = (what, value, expected, isValid) =>
    checkValue(`evaluate: ${what}`, value, expected, isValid);
  check("session", session, "a PromptSession", (value) => hasMethods(value, "transact", "dispatch"));
  check("workspace", workspace, "a Workspace from openWorkspace", (value) =>
    hasMethods(value, "transact", "preview"),
  );
  check("budget", budget, "a Budget: new Budget({ totalTokens: … })", (value) => hasMethods(value, "record"));
  check("deadline", deadline, "a Deadline: Deadline.in(60_000)", (value) => hasMethods(value, "remaining"));
  check("signal", signal, "an AbortSignal", (value) => value instanceof AbortSignal);
  check("overrides", overrides, "PromptOverrides", (value) => hasMethods(value, "sectionText"));
  check("transcript", transcript, "a function", isFunction);
  check("bundle", bundle, "the path of a folder", isString);
  check(
    "onFailure",
    options.onFailure,
    '"keep" or "restore"',
    (value) => value === "keep" || value === "restore",
  );
  check(
    "maxContinuations",
    options.maxContinuations,
    "a whole number of at least 0",
    (value) => value === 0 || isCount(value),
  );
  check(
    "thread.cwd",
    thread?.cwd,
    "an absolute path",
    (value) => isString(value) && isAbsolute(value as string),
  );
  checkThreadTypes(thread ?? {}, check);
  if (options.onFailure === "restore" && !workspace) {
    throw new PromptError("invalid_option", 'evaluate: onFailure "restore" needs a workspace to restore.');
  }
}
