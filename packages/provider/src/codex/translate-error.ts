import { CodexError, type CodexErrorCode } from "codexkit";
import { ProviderError, type ProviderErrorCode } from "../contract/provider-error.ts";

const CODES: Readonly<Partial<Record<CodexErrorCode, ProviderErrorCode>>> = {
  aborted: "context_cancelled",
  closed: "shut_down",
  thread_not_found: "session_not_found",
  thread_lost: "session_not_found",
  thread_locked: "session_busy",
  thread_busy: "session_busy",
  invalid_argument: "invalid_spec",
  invalid_schema: "invalid_spec",
  codex_not_found: "provider_unavailable",
  codex_start_failed: "provider_unavailable",
  codex_too_old: "provider_unavailable",
  connect_failed: "provider_unavailable",
};

/** An error of the SDK in the words of the contract. */
export function toProviderError(error: unknown, otherwise: ProviderErrorCode): ProviderError {
  if (error instanceof ProviderError) return error;
  const code = error instanceof CodexError ? CODES[error.code] : undefined;
  const message = error instanceof Error ? error.message : String(error);
  return new ProviderError(code ?? otherwise, message, { cause: error });
}
