import { z } from "zod";
import { PolicyError, type PolicyErrorCode } from "../errors.ts";
import { checkExamples } from "./check-examples.ts";
import { retainShape } from "../retain-shape.ts";
import { WorkBudget } from "../limits.ts";
import { compilePolicy } from "./compile-policy.ts";
import { CommandJudge } from "./judge-commands.ts";
import { workspaceFor } from "./evaluate-policy.ts";
import { policySchema, type Policy, type PolicyInput } from "./policy.ts";
import { PRESETS } from "./presets.ts";
import { normalizeRule, ruleSchema, type Rule } from "./rule.ts";

const TEMP = ["/tmp", "/var/tmp", "/private/tmp", "/var/folders", "/private/var/folders", "/dev/shm"];

/**
 * Creates a policy. Every rule and its examples are checked here, so that `evaluatePolicy` never fails. Unknown fields are rejected.
 *
 * @example
 * const policy = definePolicy({
 *   preset: "developer",
 *   workspace: "/srv/app",
 *   deny: [{ kind: "prefix", argv: ["npm", "publish"], justification: "releases are made by CI" }],
 *   ask: ["git push"],
 *   additionalAllow: ["docker compose up"],
 *   network: { allow: ["*.example.com:443"] },
 * });
 *
 * @throws {PolicyError} `invalid_policy` for unknown fields, `invalid_rule` or `invalid_regex` if a rule can't be read.
 */
export function definePolicy(input: PolicyInput = {}): Policy {
  parseWith(policySchema, input, "invalid_policy", "a policy");
  const { preset = "developer", workspace = [] } = input;
  const isList = typeof workspace === "string" || "length" in workspace;
  const policy: Policy = {
    version: 1,
    preset,
    deny: (input.deny ?? []).map(normalizeRule),
    ask: (input.ask ?? []).map(normalizeRule),
    allow: (input.allow ?? []).map(normalizeRule),
    additionalAllow: (input.additionalAllow ?? []).map(normalizeRule),
    default: input.default ?? PRESETS[preset].default,
    workspace: isList
      ? { roots: [workspace].flat(), temp: TEMP }
      : { ...workspace, roots: workspace.roots ?? [], temp: workspace.temp ?? TEMP },
    network: { ...input.network, allow: input.network?.allow ?? [], deny: input.network?.deny ?? [] },
    effects: input.effects ?? {},
    onDeny: input.onDeny ?? "decline",
    ...(input.within === undefined ? {} : { within: definePolicy(input.within) }),
  };
  const compiled = compilePolicy(policy);
  checkExamples(compiled);
  const budget = new WorkBudget();
  retainShape(new CommandJudge({ workspace: workspaceFor(policy), policy: compiled, budget }));
  return policy;
}

/**
 * Parses a policy from JSON: one that `definePolicy` returned, or its input.
 *
 * @throws {PolicyError} `invalid_policy` if it is not a policy, `invalid_rule` or `invalid_regex` if a rule can't be read.
 */
export function parsePolicy(json: unknown): Policy {
  // A missing value is no policy, although `definePolicy` has a default.
  return definePolicy((json ?? null) as PolicyInput);
}

export function parseRule(json: unknown): Rule {
  return parseWith(ruleSchema, json, "invalid_rule", "a rule");
}

/** Returns the policy with more rules in `additionalAllow`. Existing rules are kept, and duplicates are left out. */
export function remember(policy: Policy, rules: readonly Rule[]): Policy {
  const known = new Set(policy.additionalAllow.map((rule) => JSON.stringify(rule)));
  const added = rules.filter((rule) => !known.has(JSON.stringify(rule)));
  if (added.length === 0) return policy;
  const next: Policy = { ...policy, additionalAllow: [...policy.additionalAllow, ...added] };
  compilePolicy(next);
  return next;
}

function parseWith<T>(schema: z.ZodType<T>, value: unknown, code: PolicyErrorCode, what: string): T {
  const { data, error } = schema.safeParse(value);
  if (error === undefined) return data;
  throw new PolicyError(code, `This is not ${what}. ${z.prettifyError(error)}`, { cause: error });
}
