import type { v2 } from "@codexkit/protocol";
import type { CodexError } from "../errors.ts";
import type { RequestEvent } from "../requests/request-events.ts";
import type { TokenUsage, TurnResult } from "./turn-result.ts";

/** A message as the server sent it. */
export interface RawMessage {
  readonly method: string;
  readonly params?: unknown;
}

interface Said {
  readonly threadId: string;
  /** What the server sent, where one message became this event. */
  readonly raw?: RawMessage;
}

interface SaidInTurn extends Said {
  readonly turnId: string;
}

/** Which text a delta continues. */
export type DeltaKind =
  /** The agent's message. */
  | "message"
  /** A part of the summary of its reasoning; `index` is the part. */
  | "reasoning_summary"
  /** Its reasoning as it is, where a model shows it; `index` is the part. */
  | "reasoning"
  /** The text of a plan. */
  | "plan"
  /** The output of a command. */
  | "command_output"
  /** What an MCP tool says of its progress: a message a delta, and a line a message where several are joined. */
  | "tool_progress";

export interface ThreadStartedEvent extends Said {
  readonly type: "thread.started";
  readonly thread: v2.Thread;
}

export interface TurnStartedEvent extends SaidInTurn {
  readonly type: "turn.started";
}

export interface ItemStartedEvent extends SaidInTurn {
  readonly type: "item.started";
  readonly item: v2.ThreadItem;
}

export interface ItemDeltaEvent extends SaidInTurn {
  readonly type: "item.delta";
  readonly itemId: string;
  readonly kind: DeltaKind;
  /** New text. A reader that falls behind gets several deltas joined into one. */
  readonly delta: string;
  readonly index?: number;
  /** How many characters before this delta were dropped, for a reader that fell too far behind. */
  readonly omitted?: number;
}

export interface ItemCompletedEvent extends SaidInTurn {
  readonly type: "item.completed";
  readonly item: v2.ThreadItem;
  /** The item outlived its turn: a command in the background, for one. */
  readonly late?: true;
}

export interface PlanUpdatedEvent extends SaidInTurn {
  readonly type: "plan.updated";
  readonly plan: readonly v2.TurnPlanStep[];
  readonly explanation: string | null;
}

export interface DiffUpdatedEvent extends SaidInTurn {
  readonly type: "diff.updated";
  /** The unified diff of the whole turn so far. */
  readonly diff: string;
}

export interface UsageUpdatedEvent extends SaidInTurn {
  readonly type: "usage.updated";
  /** The turn so far. */
  readonly usage: TokenUsage;
  /** The whole thread so far. */
  readonly total: TokenUsage;
  readonly contextWindow: number | null;
}

export type WarningKind =
  /** The model's endpoint failed and Codex tries again. */
  | "retrying"
  /** The backend answered with another model than the one asked for. */
  | "model_rerouted"
  | "deprecation"
  | "config"
  | "guardian"
  /** This reader fell so far behind that events were dropped. */
  | "gap"
  /** Input meant for a new turn joined one that another client had just started. */
  | "steered"
  /** Something about how codex was launched, such as a home in the temp folder. */
  | "launch"
  /** A listener of this program threw; the others, and the event that it heard, are not touched by that. */
  | "listener_failed"
  /** The server is newer than this package's types. */
  | "version"
  /** Something came over the wire that is not a message. */
  | "malformed"
  /** Anything else that the server warns of. */
  | "server";

export interface WarningEvent {
  readonly type: "warning";
  readonly kind: WarningKind;
  readonly message: string;
  /** Of `model_rerouted`: the model that answers. */
  readonly model?: string;
  readonly threadId?: string;
  readonly turnId?: string;
  readonly raw?: RawMessage;
}

export interface TurnCompletedEvent extends SaidInTurn {
  readonly type: "turn.completed";
  readonly result: TurnResult;
}

export interface TurnFailedEvent extends SaidInTurn {
  readonly type: "turn.failed";
  readonly error: CodexError;
  /** What the turn had done when it failed. */
  readonly result: TurnResult;
}

export interface TurnInterruptedEvent extends SaidInTurn {
  readonly type: "turn.interrupted";
  readonly result: TurnResult;
}

/**
 * A notification of this release that has no event of its own, such as a change of the account or of a thread's queue.
 * `raw.method` names it.
 */
export interface NoticeEvent {
  readonly type: "notice";
  readonly threadId?: string;
  readonly turnId?: string;
  readonly raw: RawMessage;
}

/** A notification that this release's types don't know, or whose shape they don't describe. Nothing is lost. */
export interface UnknownEvent {
  readonly type: "unknown";
  readonly threadId?: string;
  readonly turnId?: string;
  readonly raw: RawMessage;
}

/** How a turn ended. */
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
