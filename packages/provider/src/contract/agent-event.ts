import type { IgnoredField } from "./ignored-field.ts";

interface Told {
  /** What the agent itself said, as the provider got it; the newest of several that were joined for a slow reader. */
  readonly raw?: unknown;
}

/** An agent below the session's own. */
export interface Subagent {
  readonly id: string;
  /** The session, or the agent below it, that started this one. */
  readonly parentId: string;
  readonly name?: string;
}

interface Activity extends Told {
  /** Set on what an agent below the session's own did. */
  readonly subagent?: Subagent;
}

/** The first event: the session exists. */
export interface InitEvent extends Told {
  readonly kind: "init";
  readonly sessionId: string;
  /** The fields of the spec that are not honoured, and why. */
  readonly ignored: readonly IgnoredField[];
}

/** Something to know that is neither words nor a tool. `subtype` is the provider's; those below mean the same everywhere. */
export interface SystemEvent extends Activity {
  readonly kind: "system";
  readonly subtype: SystemSubtype | (string & {});
  readonly message: string;
}

export type SystemSubtype =
  /** The agent asked to do something and was refused. */
  | "approval_denied"
  /** The agent asked something that nobody here can answer; it was told so. */
  | "unhandled_server_request"
  /** Text was injected. */
  | "injected"
  /** The reader fell so far behind that events were dropped here; `message` says how many. */
  | "gap";

/** Words of the agent. Those of one `messageId`, put together, are one message. */
export interface AssistantTextEvent extends Activity {
  readonly kind: "assistant_text";
  readonly text: string;
  readonly messageId?: string;
}

/** What sort of tool it is, for a runner that does not know its name. */
export type ToolCategory =
  | "command"
  | "edit"
  | "mcp"
  | "search"
  | "agent"
  | "approval"
  | "question"
  | "other";

/** A tool begins. */
export interface ToolUseEvent extends Activity {
  readonly kind: "tool_use";
  readonly toolName: string;
  readonly toolUseId: string;
  readonly input: unknown;
  readonly toolCategory: ToolCategory;
}

/** A tool ended. Each answers one `tool_use`. */
export interface ToolResultEvent extends Activity {
  readonly kind: "tool_result";
  readonly toolUseId: string;
  readonly toolName: string;
  readonly content: string;
  readonly isError: boolean;
}

/** A tool goes on. */
export interface ToolProgressEvent extends Activity {
  readonly kind: "tool_progress";
  readonly toolUseId: string;
  readonly toolName: string;
  readonly elapsedSeconds: number;
  /** What it said since the last time. */
  readonly output?: string;
}

/**
 * What a session used since it was spawned or resumed, its subagents included. Earlier turns of a resumed session are not
 * counted. Unknown values are absent.
 */
export interface AgentCost {
  /** Cached tokens included. */
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cachedInputTokens?: number;
  /** US dollars, if the provider knows prices. */
  readonly usd?: number;
  /** Number of model calls. */
  readonly turns?: number;
}

/** The cost so far, sent after a model call. Counts never decrease, and the last event of the session repeats the total. */
export interface UsageEvent extends Activity {
  readonly kind: "usage";
  readonly cost: AgentCost;
  /** The model that was called, if known. */
  readonly model?: string;
}

/** Why a session that ran did not succeed. */
export type ErrorSubtype =
  /** `stop` was called, the handle was disposed of, or its reader left. */
  | "stopped"
  /** It used up `maxTurns`. */
  | "max_turns"
  /** It used up `timeoutMs`. */
  | "deadline_exceeded"
  /** It used more than `maxTokens` or `maxCostUsd`. */
  | "budget_exceeded"
  /** The model or the agent refused. */
  | "refused"
  /** The model's window or its budget of tokens is full. */
  | "token_limit"
  /** The model's endpoint rejected the credentials, or there are none. */
  | "authentication_failed"
  /** The model's endpoint received too many requests. Retry later. */
  | "rate_limited"
  /** The account has no quota or credit left. */
  | "quota_exceeded"
  /** The model's endpoint failed or could not be reached. Retry later. */
  | "server_error"
  /** The agent failed in any other way; `reason` has its own word for it. */
  | "execution_failed";

/** The session ended by itself or as it was told to. */
export interface ResultEvent extends Told {
  readonly kind: "result";
  readonly success: boolean;
  /** The agent's last message; empty if there is none. */
  readonly message: string;
  readonly errors: readonly string[];
  /** Set exactly when `success` is false. */
  readonly errorSubtype?: ErrorSubtype;
  /** The agent's own word for the failure. */
  readonly reason?: string;
  /** Set exactly when `success` is false: whether the same call may succeed if it is made again. */
  readonly retryable?: boolean;
  readonly cost: AgentCost;
}

/** What broke under a session. */
export type AgentErrorCode =
  /** The agent's process died. */
  | "app_server_crashed"
  /** The `signal` given to `spawn` or `resume` fired. */
  | "context_cancelled"
  /** The provider was shut down. */
  | "provider_shutdown"
  /** The provider itself failed. */
  | "provider_failed";

/** The session was cut off. */
export interface ErrorEvent extends Told {
  readonly kind: "error";
  readonly code: AgentErrorCode;
  readonly message: string;
  /** Whether the same call may succeed if it is made again. */
  readonly retryable: boolean;
  /** What the session had used when it was cut off. */
  readonly cost: AgentCost;
}

/** Between the first event and the last. */
export type ActivityEvent =
  | SystemEvent
  | AssistantTextEvent
  | ToolUseEvent
  | ToolResultEvent
  | ToolProgressEvent
  | UsageEvent;

/** The last event. */
export type TerminalEvent = ResultEvent | ErrorEvent;

/**
 * What a session tells. The law of the stream: exactly one `init` first, any activity, exactly one `result` or `error`, and
 * then the end.
 */
export type AgentEvent = InitEvent | ActivityEvent | TerminalEvent;
