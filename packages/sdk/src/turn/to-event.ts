import type { CodexEvent, TurnEndEvent, UsageUpdatedEvent } from "../events/event.ts";
import type {
  ParsedNotification,
  TurnEndNotification,
  UsageNotification,
} from "../events/parse-notification.ts";
import {
  findFinalResponse,
  NO_TOKENS,
  type TokenUsage,
  TurnFailedError,
  type TurnResult,
  withLoginHint,
} from "../events/turn-result.ts";
import { UsageMeter } from "./usage-meter.ts";

/** The part of a turn's state that its events report. */
export interface TurnState {
  /** Tokens of the turn so far. */
  readonly usage: TokenUsage;
  /** What the turn has done so far. */
  result(status: TurnResult["status"]): TurnResult;
}

/** Converts a notification to an event. The state of the turn must already include the notification. */
export function toEvent(notification: ParsedNotification, turn: TurnState): CodexEvent {
  switch (notification.type) {
    case "usage":
      return toUsageEvent(notification, turn);
    case "turn-end":
      return toTurnEndEvent(notification, turn);
    default:
      return notification;
  }
}

/**
 * The state of a turn that this client does not track, such as one that has already ended: only what the notification
 * itself contains.
 */
export function toUntrackedState(
  notification: ParsedNotification,
  threadTotal: TokenUsage | undefined,
): TurnState {
  return {
    get usage() {
      if (notification.type !== "usage") return NO_TOKENS;
      const meter = new UsageMeter(threadTotal);
      meter.update(notification.params.tokenUsage);
      return meter.turn;
    },
    result: (status) => {
      const { threadId, turn } = notification.type === "turn-end" ? notification.params : {};
      const items = turn?.items ?? [];
      return {
        threadId: threadId ?? "",
        turnId: turn?.id ?? "",
        status,
        finalResponse: findFinalResponse(items),
        items,
        openItems: [],
        usage: NO_TOKENS,
        diff: "",
        plan: [],
        durationMs: turn?.durationMs ?? null,
        structured: undefined,
      };
    },
  };
}

function toUsageEvent({ params, raw }: UsageNotification, { usage }: TurnState): UsageUpdatedEvent {
  const { threadId, turnId, tokenUsage } = params;
  const { total, modelContextWindow: contextWindow } = tokenUsage;
  return { type: "usage.updated", threadId, turnId, usage, total, contextWindow, raw };
}

function toTurnEndEvent({ params, raw }: TurnEndNotification, state: TurnState): TurnEndEvent {
  const { threadId, turn } = params;
  const base = { threadId, turnId: turn.id, raw };
  if (turn.status === "interrupted") {
    return { type: "turn.interrupted", ...base, result: state.result("interrupted") };
  }
  if (turn.status === "completed") {
    return { type: "turn.completed", ...base, result: state.result("completed") };
  }
  const result = state.result("failed");
  const message =
    typeof turn.error?.message === "string"
      ? withLoginHint(turn.error.message, turn.error)
      : `The turn ended with status ${turn.status}, without an error.`;
  const error = new TurnFailedError(
    "turn_failed",
    message,
    result,
    turn.error ? { turnError: turn.error } : undefined,
  );
  return { type: "turn.failed", ...base, error, result };
}
