import { type CodexError, type TurnEndEvent, TurnFailedError } from "codexkit";
import type { AgentCost, AgentErrorCode, ErrorSubtype, TerminalEvent } from "../../contract/agent-event.ts";
import { errorEvent, failedResult } from "../../contract/session-end.ts";
import { classifyFailure } from "../errors/classify-failure.ts";

/** Why the provider ended a session. The first reason wins. */
export type CloseReason = "stopped" | "cancelled" | "deadline" | "max_turns" | "budget_exceeded" | "shutdown";

/** A reason to end a session, with its message. */
export interface Closing {
  readonly reason: CloseReason;
  readonly message: string;
}

const ENDS: Readonly<Record<CloseReason, { code: AgentErrorCode } | { subtype: ErrorSubtype }>> = {
  stopped: { subtype: "stopped" },
  cancelled: { code: "context_cancelled" },
  deadline: { subtype: "deadline_exceeded" },
  max_turns: { subtype: "max_turns" },
  budget_exceeded: { subtype: "budget_exceeded" },
  shutdown: { code: "provider_shutdown" },
};

/** Limits that apply even if the turn completed before it was interrupted. Success means that they were not exceeded. */
const HARD_LIMITS: ReadonlySet<CloseReason> = new Set<CloseReason>(["max_turns", "budget_exceeded"]);

/** The terminal event of a session that the provider ended. */
export function endOfClosed(
  { reason, message }: Closing,
  cost: AgentCost,
  lastMessage = "",
  raw?: unknown,
): TerminalEvent {
  const end = ENDS[reason];
  if ("code" in end) return errorEvent(end.code, message, cost, raw);
  return failedResult(end.subtype, message, { message: lastMessage, cost, ...withRaw(raw) });
}

/** The terminal event of a session whose turn ended. */
export function endOfTurn(end: TurnEndEvent, cost: AgentCost, closing: Closing | undefined): TerminalEvent {
  const { finalResponse: message } = end.result;
  switch (end.type) {
    case "turn.completed":
      if (closing && HARD_LIMITS.has(closing.reason)) return endOfClosed(closing, cost, message, end);
      return { kind: "result", success: true, message, errors: [], cost, raw: end };
    case "turn.interrupted":
      if (closing) return endOfClosed(closing, cost, message, end);
      return failedResult("execution_failed", "Codex interrupted the turn by itself.", {
        message,
        reason: "interrupted",
        cost,
        raw: end,
      });
    case "turn.failed":
      return endOfFailure(end.error, cost, message, end);
  }
}

/** The terminal event of a session whose turn failed or never started. */
export function endOfFailure(
  error: CodexError,
  cost: AgentCost,
  lastMessage = "",
  raw?: unknown,
): TerminalEvent {
  const { code, message } = error;
  if (code === "app_server_crashed") return errorEvent(code, message, cost, raw);
  if (code === "closed") return errorEvent("provider_shutdown", message, cost, raw);
  const reason = error instanceof TurnFailedError ? (error.reason ?? code) : code;
  return failedResult(classifyFailure(error), message, {
    message: lastMessage,
    reason,
    cost,
    ...withRaw(raw),
  });
}

function withRaw(raw: unknown): { raw?: unknown } {
  return raw === undefined ? {} : { raw };
}
