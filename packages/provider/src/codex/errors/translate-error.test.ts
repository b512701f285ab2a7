import { CodexError, type CodexErrorCode } from "codexkit";
import { expect, it } from "vitest";
import { ProviderError, type ProviderErrorCode } from "../../contract/provider-error.ts";
import { toProviderError } from "./translate-error.ts";

it.each<[CodexErrorCode, ProviderErrorCode, boolean]>([
  ["overloaded", "server_error", true],
  ["app_server_crashed", "spawn_failed", true],
  ["connect_failed", "provider_unavailable", true],
  ["codex_too_old", "provider_unavailable", false],
  ["thread_locked", "session_busy", true],
  ["thread_not_found", "session_not_found", false],
  ["invalid_argument", "invalid_spec", false],
  ["aborted", "context_cancelled", false],
  ["request_failed", "spawn_failed", false],
])("maps %s to %s, retryable: %s", (code, expected, retryable) => {
  const cause = new CodexError(code, "It failed.");
  const error = toProviderError(cause, "spawn_failed");
  expect(error).toMatchObject({ code: expected, retryable, message: "It failed.", cause });
});

it("keeps an error of the contract", () => {
  const error = new ProviderError("session_busy", "It is running.");
  expect(toProviderError(error, "spawn_failed")).toBe(error);
});
