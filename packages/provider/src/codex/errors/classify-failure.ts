import { type CodexError, TurnFailedError } from "codexkit";
import type { ErrorSubtype } from "../../contract/agent-event.ts";

const BY_REASON: Readonly<Record<string, ErrorSubtype>> = {
  contextWindowExceeded: "token_limit",
  sessionBudgetExceeded: "token_limit",
  cyberPolicy: "refused",
  misalignmentPolicyViolation: "refused",
  unauthorized: "authentication_failed",
  missingApiKey: "authentication_failed",
  usageLimitExceeded: "quota_exceeded",
  rateLimitExceeded: "rate_limited",
  flexUnavailable: "server_error",
  serverOverloaded: "server_error",
  policyCapacityUnavailable: "server_error",
  internalServerError: "server_error",
};

/** Connection failures. The HTTP status is more specific, if there is one. */
const CONNECTION_REASONS: ReadonlySet<string> = new Set([
  "httpConnectionFailed",
  "responseStreamConnectionFailed",
  "responseStreamDisconnected",
  "responseTooManyFailedAttempts",
  "streamDisconnected",
]);

/** Maps a failure of Codex to the contract's subtypes. */
export function classifyFailure(error: CodexError): ErrorSubtype {
  if (error.code === "overloaded") return "server_error";
  if (!(error instanceof TurnFailedError)) return "execution_failed";
  const { reason = "", httpStatus } = error;
  const known = BY_REASON[reason];
  if (known) return known;
  if (httpStatus !== undefined) return byStatus(httpStatus);
  return CONNECTION_REASONS.has(reason) ? "server_error" : "execution_failed";
}

function byStatus(status: number): ErrorSubtype {
  if (status === 401 || status === 403) return "authentication_failed";
  if (status === 402) return "quota_exceeded";
  if (status === 429) return "rate_limited";
  return status >= 500 || status === 408 ? "server_error" : "execution_failed";
}
