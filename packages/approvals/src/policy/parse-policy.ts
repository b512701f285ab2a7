import { definePolicy } from "./define-policy.ts";
import type { Policy, PolicyInput } from "./policy.ts";
import { policySchema, readWith, ruleSchema } from "./policy-schema.ts";
import type { Rule } from "./rule.ts";

/**
 * Reads a policy from JSON: one that `definePolicy` made, or what it accepts.
 *
 * @throws {PolicyError} `invalid_policy` if it is none, `invalid_rule` or `invalid_regex` if a rule can't be read.
 */
export function parsePolicy(json: unknown): Policy {
  return definePolicy(readWith(policySchema, json, "invalid_policy") as PolicyInput);
}

/** Reads one rule that was stored as JSON. */
export function parseRule(json: unknown): Rule {
  return readWith(ruleSchema, json, "invalid_rule");
}
