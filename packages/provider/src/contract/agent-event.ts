import type { IgnoredField } from "./ignored-field.ts";

interface EventBase {
  /** The original event of the agent. If events were joined for a slow reader, the newest one. */
  readonly raw?: unknown;
}

/** An agent that the session's agent started. */
export interface Subagent {
  readonly id: string;
  /** The session or the subagent that started this one. */
  readonly parentId: string;
  readonly name?: string;
}

interface Activity extends EventBase {
  /** Set if a subagent caused the event. */
  readonly subagent?: Subagent;
}

/** The first event: the session is open. */
export interface InitEvent extends EventBase {
  readonly kind: "init";
  readonly sessionId: string;
  /** Fields of the spec that are not honoured, with the reason. */
  readonly ignored: readonly IgnoredField[];
}

/** An event that is neither text nor a tool. Providers add their own subtypes; those of `SystemSubtype` are common to all. */
export interface SystemEvent extends Activity {
  readonly kind: "system";
  readonly subtype: SystemSubtype | (string & {});
  readonly message: string;
}

export type SystemSubtype =
  /** A permission request of the agent was denied. */
  | "approval_denied"
  /** The agent sent a request that has no handler. It received an error. */
  | "unhandled_server_request"
  /** Text was injected. */
  | "injected"
  /** Events were dropped here because the reader fell behind. `message` has their number. */
  | "gap";

/** Text of the agent. The texts with the same `messageId` form one message. */
export interface AssistantTextEvent extends Activity {
  readonly kind: "assistant_text";
  readonly text: string;
  readonly messageId?: string;
}

/** Kind of tool, for runners that don't know its name. */
export type ToolCategory =
  | "command"
  | "edit"
  | "mcp"
  | "search"
  | "agent"
  | "approval"
  | "question"
  | "other";

/** A tool call started. */
export interface ToolUseEvent extends Activity {
  readonly kind: "tool_use";
  readonly toolName: string;
  readonly toolUseId: string;
  readonly input: unknown;
  readonly toolCategory: ToolCategory;
}

/** A tool call ended. Each `tool_use` has exactly one. */
export interface ToolResultEvent extends Activity {
  readonly kind: "tool_result";
  readonly toolUseId: string;
  readonly toolName: string;
  readonly content: string;
  readonly isError: boolean;
}

/** A tool call is running. */
export interface ToolProgressEvent extends Activity {
  readonly kind: "tool_progress";
  readonly toolUseId: string;
  readonly toolName: string;
  readonly elapsedSeconds: number;
  /** Output since the previous event. */
  readonly output?: string;
}

/**
 * Usage of a session since it was spawned or resumed, including its subagents but not earlier turns of a resumed session.
 * Unknown values are absent.
 */
export interface AgentCost {
  /** Cached tokens included. */
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cachedInputTokens?: number;
  /** US dollars, if the provider has prices. */
  readonly usd?: number;
  /** Number of model calls. */
  readonly turns?: number;
}

/** The cost so far, sent after a model call. Values never decrease. The terminal event repeats the total. */
export interface UsageEvent extends Activity {
  readonly kind: "usage";
  readonly cost: AgentCost;
  /** The model that was called, if known. */
  readonly model?: string;
}

/** Why a session failed. */
export type ErrorSubtype =
  /** `stop` was called, the handle was disposed, or its reader stopped. */
  | "stopped"
  /** It reached `maxTurns`. */
  | "max_turns"
  /** It reached `timeoutMs`. */
  | "deadline_exceeded"
  /** It exceeded `maxTokens` or `maxCostUsd`. */
  | "budget_exceeded"
  /** The model or the agent refused. */
  | "refused"
  /** The model's context window or token limit is exhausted. */
  | "token_limit"
  /** The model's endpoint rejected the credentials, or there are none. */
  | "authentication_failed"
  /** The model's endpoint received too many requests. Retry later. */
  | "rate_limited"
  /** The account has no quota or credit left. */
  | "quota_exceeded"
  /** The model's endpoint failed or could not be reached. Retry later. */
  | "server_error"
  /** Any other failure. `reason` has the agent's own code. */
  | "execution_failed";

/** The session ended on its own, or was ended by the caller or a limit. */
export interface ResultEvent extends EventBase {
  readonly kind: "result";
  readonly success: boolean;
  /** The agent's last message. Empty if there is none. */
  readonly message: string;
  readonly errors: readonly string[];
  /** Set exactly when `success` is false. */
  readonly errorSubtype?: ErrorSubtype;
  /** The agent's own code for the failure. */
  readonly reason?: string;
  /** Set exactly when `success` is false: whether a retry may succeed without changes. */
  readonly retryable?: boolean;
  readonly cost: AgentCost;
}

/** Why a session was cut off. */
export type AgentErrorCode =
  /** The agent's process ended unexpectedly. */
  | "app_server_crashed"
  /** The `signal` of `spawn` or `resume` was aborted. */
  | "context_cancelled"
  /** The provider was shut down. */
  | "provider_shutdown"
  /** The provider itself failed. */
  | "provider_failed";

/** The session was cut off. */
export interface ErrorEvent extends EventBase {
  readonly kind: "error";
  readonly code: AgentErrorCode;
  readonly message: string;
  /** Whether a retry may succeed without changes. */
  readonly retryable: boolean;
  /** The cost until the session was cut off. */
  readonly cost: AgentCost;
}

/** Events between `init` and the terminal event. */
export type ActivityEvent =
  | SystemEvent
  | AssistantTextEvent
  | ToolUseEvent
  | ToolResultEvent
  | ToolProgressEvent
  | UsageEvent;

/** The last event of a session. */
export type TerminalEvent = ResultEvent | ErrorEvent;

/**
 * An event of a session. Every stream has exactly one `init` first, then any activity, then exactly one `result` or `error`, and
 * then ends.
 */
export type AgentEvent = InitEvent | ActivityEvent | TerminalEvent;
