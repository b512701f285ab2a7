import { CodexError, type CodexErrorCode, TurnFailedError, type TurnResult, type v2 } from "codexkit";
import { expect, test } from "vitest";
import { PromptError, type PromptErrorCode } from "../errors.ts";
import type { EvaluationPhase, PartialEvaluation } from "./evaluation-error.ts";
import { toEvaluationError } from "./to-evaluation-error.ts";
import { NO_USAGE } from "./usage-ledger.ts";

const partial: PartialEvaluation = { text: "so far", usage: NO_USAGE, turns: [] };

function failedTurn(codexErrorInfo: v2.CodexErrorInfo | null): TurnFailedError {
  return new TurnFailedError("turn_failed", "It failed.", {} as TurnResult, {
    turnError: { message: "It failed.", codexErrorInfo, additionalDetails: "details" } as v2.TurnError,
  });
}

const status = { httpStatusCode: 503 };

// All values of Codex 0.166.
test.for<readonly [v2.CodexErrorInfo | null, EvaluationPhase, string | undefined]>([
  ["contextWindowExceeded", "response", "contextWindowExceeded"],
  ["sessionBudgetExceeded", "budget", "sessionBudgetExceeded"],
  ["usageLimitExceeded", "budget", "usageLimitExceeded"],
  ["rateLimitExceeded", "request", "rateLimitExceeded"],
  ["flexUnavailable", "request", "flexUnavailable"],
  ["serverOverloaded", "request", "serverOverloaded"],
  ["modelNotFound", "request", "modelNotFound"],
  ["policyCapacityUnavailable", "request", "policyCapacityUnavailable"],
  ["cyberPolicy", "response", "cyberPolicy"],
  ["misalignmentPolicyViolation", "response", "misalignmentPolicyViolation"],
  ["tooManyDenials", "tool", "tooManyDenials"],
  [{ httpConnectionFailed: status }, "request", "httpConnectionFailed"],
  [{ responseStreamConnectionFailed: status }, "request", "responseStreamConnectionFailed"],
  ["internalServerError", "response", "internalServerError"],
  ["unauthorized", "request", "unauthorized"],
  ["badRequest", "request", "badRequest"],
  ["threadRollbackFailed", "response", "threadRollbackFailed"],
  ["sandboxError", "tool", "sandboxError"],
  [{ responseStreamDisconnected: status }, "request", "responseStreamDisconnected"],
  [{ responseTooManyFailedAttempts: status }, "request", "responseTooManyFailedAttempts"],
  [{ activeTurnNotSteerable: { turnKind: "review" } }, "request", "activeTurnNotSteerable"],
  ["other", "response", "other"],
  ["somethingNew", "response", "somethingNew"],
  [{ somethingNew: {} }, "response", "somethingNew"],
  [null, "response", undefined],
])("a turn failure with %j belongs to the phase %s", ([info, phase, reason]) => {
  const error = toEvaluationError(failedTurn(info), partial);

  expect(error).toMatchObject({
    code: "evaluation_failed",
    phase,
    reason,
    additionalDetails: "details",
    message: "It failed.",
    partial,
  });
  const hasStatus = typeof info === "object" && info !== null && Object.values(info)[0] === status;
  expect(error.httpStatus).toBe(hasStatus ? 503 : undefined);
});

test.for<readonly [PromptErrorCode, EvaluationPhase]>([
  ["budget_exceeded", "budget"],
  ["deadline_exceeded", "budget"],
  ["workspace_conflict", "tool"],
  ["invalid_resource", "tool"],
  ["invalid_definition", "request"],
  ["aborted", "request"],
])("this package's error %s belongs to the phase %s", ([code, phase]) => {
  expect(toEvaluationError(new PromptError(code, "m"), partial)).toMatchObject({ code, phase });
});

test.for<readonly [CodexErrorCode, EvaluationPhase, PromptErrorCode]>([
  ["codex_not_found", "request", "evaluation_failed"],
  ["app_server_crashed", "request", "evaluation_failed"],
  ["closed", "request", "evaluation_failed"],
  ["aborted", "request", "aborted"],
])("the SDK's error %s belongs to the phase %s", ([code, phase, own]) => {
  const cause = new CodexError(code, "m");
  expect(toEvaluationError(cause, partial)).toMatchObject({ code: own, phase, cause });
});

test("an evaluation error is kept as is; any other error becomes the cause", () => {
  const error = toEvaluationError(new PromptError("aborted", "m"), partial);
  expect(toEvaluationError(error, partial)).toBe(error);
  expect(toEvaluationError("text", partial)).toMatchObject({
    message: "text",
    phase: "response",
    cause: "text",
  });
});
