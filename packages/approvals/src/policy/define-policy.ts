import { z } from "zod";
import { PolicyError, type PolicyErrorCode } from "../errors.ts";
import { resolvePath } from "../files/path.ts";
import { readEndpoint } from "../network/endpoint.ts";
import { readScript } from "../shell/read-script.ts";
import { unwrapShell } from "../shell/unwrap-shell.ts";
import { WorkBudget } from "../limits.ts";
import { compilePolicy, type CompiledPolicy, type CompiledRule } from "./compile-policy.ts";
import { CommandJudge } from "./judge-commands.ts";
import { matchesTool, workspaceFor } from "./evaluate-policy.ts";
import { matchAllowing, matchTightening, type CalledWords } from "./match-command.ts";
import { policySchema, type Policy, type PolicyInput } from "./policy.ts";
import { PRESETS } from "./presets.ts";
import { describeRule, normalizeRule, ruleSchema, type Rule } from "./rule.ts";

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
  checkExamples(compilePolicy(policy));
  return policy;
}

/**
 * Parses a policy from JSON: one that `definePolicy` returned, or its input.
 *
 * @throws {PolicyError} `invalid_policy` if it is not a policy, `invalid_rule` or `invalid_regex` if a rule can't be read.
 */
export function parsePolicy(json: unknown): Policy {
  // A missing value is not a policy, although `definePolicy` has a default.
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

/** Checks the examples of every rule, so that a rule that does not do what its author expects fails early. */
function checkExamples(policy: CompiledPolicy): void {
  for (const compiled of [...policy.deny, ...policy.ask, ...policy.allow, ...policy.additionalAllow]) {
    const { rule, id } = compiled;
    for (const list of ["match", "notMatch"] as const) {
      const expected = list === "match";
      const wrong = rule[list]?.find((example) => matches(compiled, example, policy) !== expected);
      if (wrong === undefined) continue;
      const verb = expected ? "does not match" : "matches";
      const message = `${id}: the rule ${describeRule(rule)} ${verb} "${wrong}", which its ${list} lists. Change the rule or the example.`;
      throw new PolicyError("invalid_rule", message);
    }
  }
}

function matches(compiled: CompiledRule, example: string, policy: CompiledPolicy): boolean {
  const { rule, id } = compiled;
  const folder = policy.policy.workspace.roots[0] ?? "/";
  switch (rule.kind) {
    case "script":
      return rule.text === example;
    case "path":
      return compiled.path(resolvePath(folder, example));
    case "host": {
      const endpoint = readEndpoint(example);
      return endpoint !== undefined && compiled.host(endpoint);
    }
    case "mcp": {
      const [server = "", tool] = example.split("/");
      return matchesTool(compiled, { server, tool }) === "yes";
    }
    default:
      return callsOf(example, folder, policy).some((called) =>
        /^(?:deny|ask)\[/.test(id)
          ? matchTightening(compiled, called, new WorkBudget()) === "yes"
          : matchAllowing(compiled, called),
      );
  }
}

/** The calls of an example. A call that is not understood still has its words. */
function callsOf(example: string, cwd: string, policy: CompiledPolicy): readonly CalledWords[] {
  const workspace = workspaceFor(policy.policy);
  const unwrapped = unwrapShell(example);
  const script = unwrapped.kind === "script" ? unwrapped.script : example;
  const { commands } = readScript(script, { dialect: "bash", home: workspace.home, folders: [cwd] });
  // Only the calls that the judge finds are used. The rules that are being checked must not affect it.
  const withoutRules = { ...policy, deny: [], ask: [], allow: [], additionalAllow: [] };
  const judge = new CommandJudge({ workspace, policy: withoutRules, budget: new WorkBudget() });
  judge.judge(commands);
  return judge.calls;
}
