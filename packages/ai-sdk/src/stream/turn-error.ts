import { APICallError } from "@ai-sdk/provider";
import { CodexError, type CodexErrorCode, TurnFailedError, type TurnResult } from "codexkit";
import { CodexModelError, type CodexModelErrorCode } from "../errors.ts";

/** HTTP status by Codex's code for a failure of the model's endpoint. */
const STATUS: Readonly<Record<string, number>> = {
  usageLimitExceeded: 429,
  rateLimitExceeded: 429,
  serverOverloaded: 503,
  flexUnavailable: 503,
  policyCapacityUnavailable: 503,
  internalServerError: 500,
  streamDisconnected: 502,
  responseStreamDisconnected: 502,
  responseStreamConnectionFailed: 502,
  responseTooManyFailedAttempts: 502,
  httpConnectionFailed: 502,
  unauthorized: 401,
  badRequest: 400,
  modelNotFound: 404,
};

/** Codes that are not retried: a plan limit lasts for hours or days, so an immediate retry would fail again. */
const LASTING = new Set(["usageLimitExceeded"]);

/** Items with side effects. A turn that contains one must not be repeated by an automatic retry. */
const EFFECTS = new Set([
  "commandExecution",
  "fileChange",
  "mcpToolCall",
  "dynamicToolCall",
  "collabAgentToolCall",
  "imageGeneration",
]);

const MEANINGS: Readonly<Partial<Record<CodexErrorCode, CodexModelErrorCode>>> = {
  codex_not_found: "codex_unavailable",
  codex_start_failed: "codex_unavailable",
  codex_too_old: "codex_unavailable",
  connect_failed: "codex_unavailable",
  app_server_crashed: "codex_lost",
  connection_lost: "codex_lost",
  server_closing: "codex_lost",
  closed: "closed",
  invalid_argument: "invalid_options",
  invalid_tool: "invalid_options",
  invalid_schema: "invalid_options",
  thread_not_found: "thread_unavailable",
  thread_locked: "thread_unavailable",
  thread_lost: "thread_unavailable",
  thread_closing: "thread_unavailable",
};

/**
 * Converts an error for the AI SDK. Failures of the model's endpoint become an `APICallError`, whose status determines whether the
 * call is retried. All others become a `CodexModelError`.
 */
export function toModelError(error: unknown): unknown {
  if (error instanceof TurnFailedError && error.code === "turn_failed") return toApiCallError(error);
  if (!(error instanceof CodexError)) return error;
  if (error.code === "aborted") return error.cause ?? error;
  if (error.code === "overloaded") {
    return new APICallError({
      message: error.message,
      url: "codex:app-server",
      requestBodyValues: {},
      statusCode: 503,
      isRetryable: true,
      cause: error,
    });
  }
  return new CodexModelError(MEANINGS[error.code] ?? "request_refused", error.message, { cause: error });
}

function toApiCallError(error: TurnFailedError): APICallError {
  const { httpStatus, reason = "other", result, turnError } = error;
  const statusCode = httpStatus ?? STATUS[reason];
  return new APICallError({
    message: error.message,
    url: "codex:turn",
    requestBodyValues: { threadId: result.threadId, turnId: result.turnId },
    ...(statusCode === undefined ? {} : { statusCode }),
    isRetryable: isTransient(statusCode) && !LASTING.has(reason) && !hadEffects(result),
    data: { reason, details: turnError?.additionalDetails ?? null },
    cause: error,
  });
}

function isTransient(status: number | undefined): boolean {
  return status !== undefined && (status === 408 || status === 409 || status === 429 || status >= 500);
}

function hadEffects({ items }: TurnResult): boolean {
  return items.some(({ type }) => EFFECTS.has(type));
}
