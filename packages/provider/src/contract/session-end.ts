import type { AgentCost, AgentErrorCode, ErrorEvent, ErrorSubtype, ResultEvent } from "./agent-event.ts";

/** Failures of a session that may pass without the caller changing anything. */
const RETRYABLE: ReadonlySet<ErrorSubtype | AgentErrorCode> = new Set<ErrorSubtype | AgentErrorCode>([
  "rate_limited",
  "server_error",
  "app_server_crashed",
  "provider_shutdown",
]);

interface FailureDetails extends Pick<ResultEvent, "cost" | "reason" | "raw"> {
  /** The agent's last message. Default: none. */
  readonly message?: string;
  /** Default: what the subtype implies. */
  readonly retryable?: boolean;
}

/** The last event of a session that ran and did not succeed. */
export function failedResult(
  errorSubtype: ErrorSubtype,
  why: string,
  { message = "", retryable = RETRYABLE.has(errorSubtype), ...details }: FailureDetails,
): ResultEvent {
  return { kind: "result", success: false, message, errors: [why], errorSubtype, retryable, ...details };
}

/** The last event of a session that was cut off. */
export function errorEvent(
  code: AgentErrorCode,
  message: string,
  cost: AgentCost,
  raw?: unknown,
): ErrorEvent {
  const retryable = RETRYABLE.has(code);
  return { kind: "error", code, message, retryable, cost, ...(raw === undefined ? {} : { raw }) };
}
