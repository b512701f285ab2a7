import { messageOf } from "@codexkit/rpc/async";
import { CodexError, TurnFailedError } from "codexkit";
import { PromptError, type PromptErrorCode } from "../errors.ts";
import { type EvaluationPhase, type PartialEvaluation, PromptEvaluationError } from "./evaluation-error.ts";

/** Codex's classification of a failed turn → the failed phase. */
const PHASES: Readonly<Record<string, EvaluationPhase>> = {
  contextWindowExceeded: "response",
  sessionBudgetExceeded: "budget",
  usageLimitExceeded: "budget",
  rateLimitExceeded: "request",
  flexUnavailable: "request",
  serverOverloaded: "request",
  modelNotFound: "request",
  policyCapacityUnavailable: "request",
  cyberPolicy: "response",
  misalignmentPolicyViolation: "response",
  tooManyDenials: "tool",
  httpConnectionFailed: "request",
  responseStreamConnectionFailed: "request",
  internalServerError: "response",
  unauthorized: "request",
  badRequest: "request",
  threadRollbackFailed: "response",
  sandboxError: "tool",
  responseStreamDisconnected: "request",
  responseTooManyFailedAttempts: "request",
  activeTurnNotSteerable: "request",
  other: "response",
};

/** Codes of connection errors and of errors before a turn has started. */
const REQUEST_CODES: ReadonlySet<string> = new Set([
  "codex_not_found",
  "codex_start_failed",
  "invalid_config",
  "connect_failed",
  "codex_too_old",
  "app_server_crashed",
  "connection_lost",
  "server_closing",
  "closed",
  "timeout",
  "overloaded",
  "invalid_argument",
  "input_too_large",
  "invalid_tool",
  "invalid_schema",
  "thread_busy",
  "thread_not_found",
  "thread_locked",
  "thread_closing",
  "thread_lost",
  "model_not_found",
  "request_failed",
]);

/** Converts any error that ended an evaluation to a `PromptEvaluationError` with the partial result. */
export function toEvaluationError(error: unknown, partial: PartialEvaluation): PromptEvaluationError {
  if (error instanceof PromptEvaluationError) return error;
  const message = messageOf(error);
  if (PromptError.is(error)) {
    return new PromptEvaluationError(message, {
      code: error.code,
      phase: phaseOfCode(error.code),
      partial,
      cause: error,
    });
  }
  if (TurnFailedError.is(error) && error.turnError) {
    const { reason, httpStatus, turnError } = error;
    return new PromptEvaluationError(message, {
      phase: PHASES[reason ?? "other"] ?? "response",
      partial,
      cause: error,
      ...(reason !== undefined && { reason }),
      ...(httpStatus !== undefined && { httpStatus }),
      ...(turnError.additionalDetails !== null && { additionalDetails: turnError.additionalDetails }),
    });
  }
  const code = CodexError.is(error) ? error.code : "";
  if (code === "aborted")
    return new PromptEvaluationError(message, { code: "aborted", phase: "request", partial, cause: error });
  const phase = REQUEST_CODES.has(code) ? "request" : "response";
  return new PromptEvaluationError(message, { phase, partial, cause: error });
}

function phaseOfCode(code: PromptErrorCode): EvaluationPhase {
  if (code === "budget_exceeded" || code === "deadline_exceeded") return "budget";
  return code === "invalid_resource" || code === "workspace_conflict" ? "tool" : "request";
}
