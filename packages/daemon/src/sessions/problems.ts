import { messageOf } from "@codexkit/rpc/async";
import { CodexError, type CodexErrorCode } from "codexkit";
import { createProblem, type Problem, PROBLEMS, type ProblemType } from "../api/problem.ts";
import { DaemonError } from "../errors.ts";

/** Codex errors that a client can act on. All others become `codex_failed`. */
const TYPES: Partial<Record<CodexErrorCode, ProblemType>> = {
  thread_busy: "turn_running",
  turn_not_active: "turn_not_running",
  turn_not_steerable: "turn_not_running",
  turn_not_found: "unprocessable",
  thread_locked: "writer_locked",
  model_not_found: "unknown_model",
  input_too_large: "unprocessable",
  invalid_argument: "unprocessable",
  timeout: "timeout",
};

/** Converts an error to the problem that is stored. `reason` is Codex's own identifier, if there is one. */
export function errorToProblem(error: unknown): Problem {
  if (CodexError.is(error)) {
    const { reason, httpStatus } = error as { reason?: string; httpStatus?: number };
    return createProblem(TYPES[error.code] ?? "codex_failed", error.message, {
      code: error.code,
      ...(reason === undefined ? {} : { reason }),
      ...(httpStatus === undefined ? {} : { httpStatus }),
    });
  }
  if (DaemonError.is(error) && error.code in PROBLEMS) {
    return createProblem(error.code as ProblemType, error.message, error.details);
  }
  return createProblem("internal", messageOf(error));
}

const LOST: ReadonlySet<CodexErrorCode> = new Set([
  "connection_lost",
  "app_server_crashed",
  "closed",
  "server_closing",
  "timeout",
]);

/**
 * Whether the outcome of a call or turn is unknown after this error, or the call must be repeated on another server. The server may
 * still be working on it.
 */
export function isLost(error: unknown): boolean {
  return CodexError.is(error) && LOST.has(error.code);
}

const UNREACHABLE: ReadonlySet<CodexErrorCode> = new Set([
  "overloaded",
  "thread_closing",
  "connect_failed",
  "codex_start_failed",
]);

/** Whether Codex could not be called, which may be possible later. */
export function isUnreachable(error: unknown): boolean {
  return CodexError.is(error) && UNREACHABLE.has(error.code);
}

/** Whether nothing more can be written, because the session has another owner or the database was closed. */
export function isFenced(error: unknown): boolean {
  return DaemonError.is(error) && (error.code === "fenced" || error.code === "closed");
}
