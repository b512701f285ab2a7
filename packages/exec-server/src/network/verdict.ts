import type { NetworkDecision, ProxiedRequest } from "../wire/network-proxy.ts";

/** A request of a process, as the proxy understood it. */
export interface Target extends ProxiedRequest {
  /** The HTTP method. */
  readonly method?: string;
  /** The address in the process's own network from which the request came. */
  readonly client?: string;
}

/** The decision about a request, its source and its reason. */
export type Verdict = Pick<NetworkDecision, "scope" | "decision" | "source" | "reason" | "policyOverride">;

export function denial(
  reason: string,
  source: Verdict["source"],
  decision: "deny" | "ask" = "deny",
): Verdict & { readonly decision: "deny" | "ask" } {
  const scope = source === "mode_guard" ? "non_domain" : "domain";
  return { scope, decision, source, reason, policyOverride: false };
}
