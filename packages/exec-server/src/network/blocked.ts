import type { Target, Verdict } from "./verdict.ts";

// Codex's texts, which commands and their authors know.
const HEADERS: Readonly<Record<string, string>> = {
  not_allowed: "blocked-by-allowlist",
  not_allowed_local: "blocked-by-allowlist",
  denied: "blocked-by-denylist",
  method_not_allowed: "blocked-by-method-policy",
  mitm_required: "blocked-by-mitm-required",
};
const MESSAGES: Readonly<Record<string, string>> = {
  not_allowed: "Domain not in allowlist.",
  not_allowed_local: "Sandbox policy blocks local/private network addresses.",
  denied: "Domain denied by the sandbox policy.",
  method_not_allowed: "Method not allowed in limited mode.",
  mitm_required: "MITM required for limited HTTPS.",
};

export interface BlockedAnswer {
  readonly type: "application/json" | "text/plain";
  readonly proxyError: string;
  readonly body: string;
}

/**
 * Builds the response to a blocked request, always with status 403: JSON for plain HTTP, a sentence for a
 * tunnel.
 */
export function blockedAnswer({ protocol, host, port }: Target, verdict: Verdict): BlockedAnswer {
  const { reason, decision, source } = verdict;
  const proxyError = lookUp(HEADERS, reason) ?? "blocked-by-policy";
  const message = lookUp(MESSAGES, reason) ?? "Request blocked by network policy.";
  if (protocol !== "http") return { type: "text/plain", proxyError, body: message };
  const body = JSON.stringify({ status: "blocked", host, reason, decision, source, protocol, port, message });
  return { type: "application/json", proxyError, body };
}

/** A reason is text from the client, so it must not find inherited properties. */
function lookUp(table: Readonly<Record<string, string>>, reason: string): string | undefined {
  return Object.hasOwn(table, reason) ? table[reason] : undefined;
}
