import { messageOf } from "@codexkit/rpc/async";
import { CodexError, type CodexErrorCode } from "codexkit";
import { ProviderError, type ProviderErrorCode } from "../../contract/provider-error.ts";
import { classifyFailure } from "./classify-failure.ts";

const CODES: Readonly<Partial<Record<CodexErrorCode, ProviderErrorCode>>> = {
  aborted: "context_cancelled",
  closed: "shut_down",
  thread_not_found: "session_not_found",
  thread_lost: "session_not_found",
  thread_locked: "session_busy",
  thread_busy: "session_busy",
  thread_closing: "session_busy",
  invalid_argument: "invalid_spec",
  invalid_schema: "invalid_spec",
  codex_not_found: "provider_unavailable",
  codex_start_failed: "provider_unavailable",
  codex_too_old: "provider_unavailable",
  connect_failed: "provider_unavailable",
};

const OF_THE_ENDPOINT = ["authentication_failed", "rate_limited", "quota_exceeded", "server_error"] as const;

/** Failures for which a retry may succeed: it starts a new Codex, or finds it less busy. */
const RETRYABLE: ReadonlySet<CodexErrorCode> = new Set<CodexErrorCode>([
  "app_server_crashed",
  "connection_lost",
  "server_closing",
  "connect_failed",
  "timeout",
]);

/** Maps an error of the SDK to the contract's. */
export function toProviderError(error: unknown, otherwise: ProviderErrorCode): ProviderError {
  if (ProviderError.is(error)) return error;
  const message = messageOf(error);
  if (!(error instanceof CodexError)) return new ProviderError(otherwise, message, { cause: error });
  const subtype = classifyFailure(error);
  const code = CODES[error.code] ?? OF_THE_ENDPOINT.find((one) => one === subtype) ?? otherwise;
  const retryable = RETRYABLE.has(error.code) ? true : undefined;
  return new ProviderError(code, message, { cause: error, retryable });
}
