import type { AgentCost, AgentErrorCode, ErrorEvent, ErrorSubtype, ResultEvent } from "./agent-event.ts";

/** Failures for which a retry may succeed without changes. */
const RETRYABLE: ReadonlySet<ErrorSubtype | AgentErrorCode> = new Set<ErrorSubtype | AgentErrorCode>([
  "rate_limited",
  "server_error",
  "app_server_crashed",
  "provider_shutdown",
]);

interface FailureDetails extends Pick<ResultEvent, "cost" | "reason" | "raw"> {
  /** The agent's last message. Default: empty. */
  readonly message?: string;
  /** Default: derived from the subtype. */
  readonly retryable?: boolean;
}

/** The terminal event of a session that ran and failed. */
export function failedResult(
  errorSubtype: ErrorSubtype,
  error: string,
  { message = "", retryable = RETRYABLE.has(errorSubtype), ...details }: FailureDetails,
): ResultEvent {
  return { kind: "result", success: false, message, errors: [error], errorSubtype, retryable, ...details };
}

/** The terminal event of a session that was cut off. */
export function errorEvent(
  code: AgentErrorCode,
  message: string,
  cost: AgentCost,
  raw?: unknown,
): ErrorEvent {
  const retryable = RETRYABLE.has(code);
  return { kind: "error", code, message, retryable, cost, ...(raw === undefined ? {} : { raw }) };
}
