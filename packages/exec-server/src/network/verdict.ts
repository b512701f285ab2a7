import type { NetworkDecision, ProxiedRequest } from "../wire/network-proxy.ts";

/** One request of a process, as the proxy understood it. */
export interface Target extends ProxiedRequest {
  /** The HTTP method. */
  readonly method?: string;
  /** Where in the process's own network it came from. */
  readonly client?: string;
}

/** What was decided of it, by whom and why. */
export type Verdict = Pick<NetworkDecision, "scope" | "decision" | "source" | "reason" | "policyOverride">;

export function denial(
  reason: string,
  source: Verdict["source"],
  decision: "deny" | "ask" = "deny",
): Verdict & { readonly decision: "deny" | "ask" } {
  const scope = source === "mode_guard" ? "non_domain" : "domain";
  return { scope, decision, source, reason, policyOverride: false };
}
