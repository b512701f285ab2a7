import { type CodexError, TurnFailedError, type TurnEndEvent } from "codexkit";
import type { AgentCost, AgentErrorCode, ErrorSubtype, TerminalEvent } from "../../contract/agent-event.ts";

/** Why this side ended a session. The first reason counts. */
export type CloseReason = "stopped" | "cancelled" | "deadline" | "max_turns" | "shutdown";

const MESSAGES: Readonly<Record<CloseReason, string>> = {
  stopped: "The session was stopped.",
  cancelled: "The signal of the session fired.",
  deadline: "The session used up its timeoutMs.",
  max_turns: "The session used up its maxTurns.",
  shutdown: "The provider was shut down.",
};

const ENDS: Readonly<Record<CloseReason, { code: AgentErrorCode } | { subtype: ErrorSubtype }>> = {
  stopped: { subtype: "stopped" },
  cancelled: { code: "context_cancelled" },
  deadline: { subtype: "deadline_exceeded" },
  max_turns: { subtype: "max_turns" },
  shutdown: { code: "provider_shutdown" },
};

/** The last event of a session that this side ended. */
export function endOfClosed(reason: CloseReason, cost: AgentCost, said = ""): TerminalEvent {
  const end = ENDS[reason];
  const message = MESSAGES[reason];
  if ("code" in end) return { kind: "error", code: end.code, message };
  return {
    kind: "result",
    success: false,
    message: said,
    errors: [message],
    errorSubtype: end.subtype,
    cost,
  };
}

/** The last event of a session whose turn ended. */
export function endOfTurn(
  end: TurnEndEvent,
  cost: AgentCost,
  closing: CloseReason | undefined,
): TerminalEvent {
  const { finalResponse: message } = end.result;
  switch (end.type) {
    case "turn.completed":
      // It was done before it could be stopped, with more calls than it may have.
      if (closing === "max_turns") return { ...endOfClosed(closing, cost, message), raw: end };
      return { kind: "result", success: true, message, errors: [], cost, raw: end };
    case "turn.interrupted":
      if (closing) return { ...endOfClosed(closing, cost, message), raw: end };
      return {
        kind: "result",
        success: false,
        message,
        errors: ["Codex interrupted the turn by itself."],
        errorSubtype: "execution_failed",
        reason: "interrupted",
        cost,
        raw: end,
      };
    case "turn.failed":
      return { ...endOfFailure(end.error, cost, message), raw: end };
  }
}

const SUBTYPES: Readonly<Record<string, ErrorSubtype>> = {
  contextWindowExceeded: "token_limit",
  sessionBudgetExceeded: "token_limit",
  cyberPolicy: "refused",
  misalignmentPolicyViolation: "refused",
};

/** The last event of a session whose turn failed, or never began. */
export function endOfFailure(error: CodexError, cost: AgentCost, said = ""): TerminalEvent {
  const { code, message } = error;
  if (code === "app_server_crashed") return { kind: "error", code, message };
  if (code === "closed") return { kind: "error", code: "provider_shutdown", message };
  const reason = error instanceof TurnFailedError ? (error.reason ?? code) : code;
  return {
    kind: "result",
    success: false,
    message: said,
    errors: [message],
    errorSubtype: SUBTYPES[reason] ?? "execution_failed",
    reason,
    cost,
  };
}
