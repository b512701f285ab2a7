import { compilePolicy } from "./compile-policy.ts";
import type { Policy } from "./policy.ts";
import type { Rule } from "./rule.ts";

/** The same policy with more rules in `alsoAllow`. What it had is not touched, and no rule is kept twice. */
export function remember(policy: Policy, rules: readonly Rule[]): Policy {
  const known = new Set(policy.alsoAllow.map((rule) => JSON.stringify(rule)));
  const added = rules.filter((rule) => !known.has(JSON.stringify(rule)));
  if (added.length === 0) return policy;
  const next: Policy = { ...policy, alsoAllow: [...policy.alsoAllow, ...added] };
  compilePolicy(next);
  return next;
}
