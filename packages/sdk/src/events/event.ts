import type { v2 } from "@codexkit/protocol";
import type { CodexError } from "../errors.ts";
import type { RequestEvent } from "../requests/request-events.ts";
import type { TokenUsage, TurnResult } from "./turn-result.ts";

/** A message as received from the server. */
export interface RawMessage {
  readonly method: string;
  readonly params?: unknown;
}

interface EventBase {
  readonly threadId: string;
  /** The received message, if the event stems from exactly one. */
  readonly raw?: RawMessage;
}

interface TurnEventBase extends EventBase {
  readonly turnId: string;
}

/** The kind of text that a delta continues. */
export type DeltaKind =
  /** The agent's message. */
  | "message"
  /** A part of the reasoning summary. `index` is the number of the part. */
  | "reasoning_summary"
  /** Raw reasoning, from models that expose it. `index` is the number of the part. */
  | "reasoning"
  /** The text of a plan. */
  | "plan"
  /** The output of a command. */
  | "command_output"
  /** Progress messages of an MCP tool: one per delta, or one per line in a merged delta. */
  | "tool_progress";

export interface ThreadStartedEvent extends EventBase {
  readonly type: "thread.started";
  readonly thread: v2.Thread;
}

export interface TurnStartedEvent extends TurnEventBase {
  readonly type: "turn.started";
}

export interface ItemStartedEvent extends TurnEventBase {
  readonly type: "item.started";
  readonly item: v2.ThreadItem;
}

export interface ItemDeltaEvent extends TurnEventBase {
  readonly type: "item.delta";
  readonly itemId: string;
  readonly kind: DeltaKind;
  /** New text. A reader that falls behind gets several deltas merged into one. */
  readonly delta: string;
  readonly index?: number;
  /** Number of characters dropped before this delta, because the reader fell too far behind. */
  readonly omitted?: number;
}

export interface ItemCompletedEvent extends TurnEventBase {
  readonly type: "item.completed";
  readonly item: v2.ThreadItem;
  /** The item completed after its turn had ended, such as a background command. */
  readonly late?: true;
}

export interface PlanUpdatedEvent extends TurnEventBase {
  readonly type: "plan.updated";
  readonly plan: readonly v2.TurnPlanStep[];
  readonly explanation: string | null;
}

export interface DiffUpdatedEvent extends TurnEventBase {
  readonly type: "diff.updated";
  /** The unified diff of the whole turn so far. */
  readonly diff: string;
}

export interface UsageUpdatedEvent extends TurnEventBase {
  readonly type: "usage.updated";
  /** Usage of the turn so far. */
  readonly usage: TokenUsage;
  /** Usage of the whole thread so far. */
  readonly total: TokenUsage;
  readonly contextWindow: number | null;
}

export type WarningKind =
  /** The model endpoint failed and Codex is retrying. */
  | "retrying"
  /** A different model than the requested one is answering. See `model`. */
  | "model_rerouted"
  | "deprecation"
  | "config"
  | "guardian"
  /** The reader fell too far behind, so events were dropped. */
  | "gap"
  /** Input for a new turn was added to one that another client had just started. */
  | "steered"
  /** A problem with the launch of codex, such as a home in the temporary folder. */
  | "launch"
  /** A listener threw. Other listeners and event delivery are unaffected. */
  | "listener_failed"
  /** The server is newer than this package's types. */
  | "version"
  /** The server sent something that is not a message. */
  | "malformed"
  /** Any other warning of the server. */
  | "server";

export interface WarningEvent {
  readonly type: "warning";
  readonly kind: WarningKind;
  readonly message: string;
  /** The answering model, if `kind` is `model_rerouted`. */
  readonly model?: string;
  readonly threadId?: string;
  readonly turnId?: string;
  readonly raw?: RawMessage;
}

export interface TurnCompletedEvent extends TurnEventBase {
  readonly type: "turn.completed";
  readonly result: TurnResult;
}

export interface TurnFailedEvent extends TurnEventBase {
  readonly type: "turn.failed";
  readonly error: CodexError;
  /** What the turn had done until it failed. */
  readonly result: TurnResult;
}

export interface TurnInterruptedEvent extends TurnEventBase {
  readonly type: "turn.interrupted";
  readonly result: TurnResult;
}

/**
 * A known notification without a dedicated event type, such as a change of the account or of a thread's
 * queue. `raw.method` has its name.
 */
export interface NoticeEvent {
  readonly type: "notice";
  readonly threadId?: string;
  readonly turnId?: string;
  readonly raw: RawMessage;
}

/** A notification that the types of this release don't know, or whose shape differs from them. */
export interface UnknownEvent {
  readonly type: "unknown";
  readonly threadId?: string;
  readonly turnId?: string;
  readonly raw: RawMessage;
}

/** The last event of a turn. */
export type TurnEndEvent = TurnCompletedEvent | TurnFailedEvent | TurnInterruptedEvent;

/** Whether an event is the last one of its turn. */
export function isTurnEnd(event: CodexEvent): event is TurnEndEvent {
  return event.type === "turn.completed" || event.type === "turn.failed" || event.type === "turn.interrupted";
}

/** Every event, in one union that all consumers of the SDK read. */
export type CodexEvent =
  | ThreadStartedEvent
  | TurnStartedEvent
  | ItemStartedEvent
  | ItemDeltaEvent
  | ItemCompletedEvent
  | PlanUpdatedEvent
  | DiffUpdatedEvent
  | UsageUpdatedEvent
  | RequestEvent
  | WarningEvent
  | TurnEndEvent
  | NoticeEvent
  | UnknownEvent;
