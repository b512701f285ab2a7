import { RE2JS } from "re2js";
import { PolicyError } from "../errors.ts";
import { compileGlob, type PathGlob } from "../files/glob.ts";
import { resolvePath } from "../files/path.ts";
import { LIMITS, type WorkBudget } from "../limits.ts";
import { compilePatterns, type CommandPattern } from "./command-pattern.ts";
import { compileHostPattern, type HostPattern } from "../network/endpoint.ts";
import type { Policy, RuleList } from "./policy.ts";
import type { Verdict } from "./evaluation.ts";
import { PRESETS, type EffectKind, type Preset } from "./presets.ts";
import type { Rule } from "./rule.ts";

export interface CompiledRule {
  readonly rule: Rule;
  /** The name of the rule in verdicts: `deny[0]`, `allow[2]`. */
  readonly id: string;
  readonly patterns: readonly CommandPattern[];
  /** Also false if the budget is exhausted. `findDenial` then asks. */
  readonly searches: (text: string, budget: WorkBudget) => boolean;
  readonly matchesWhole: (text: string) => boolean;
  readonly path: PathGlob;
  readonly globs: readonly string[];
  readonly host: HostPattern;
}

export interface CompiledPolicy extends Readonly<Record<RuleList, readonly CompiledRule[]>> {
  readonly policy: Policy;
  readonly preset: Preset;
  readonly hostsDenied: readonly HostPattern[];
  readonly hostsAllowed: readonly HostPattern[];
  readonly presetHosts: readonly HostPattern[];
  readonly hasRules: boolean;
  readonly hasCommandRules: boolean;
  /** Without path rules, a path is judged by its location alone. */
  readonly hasPathRules: boolean;
  /** Cache of verdicts on kinds of effects. */
  readonly kindVerdicts: Map<EffectKind, Verdict>;
  /** Kinds of requests that are allowed only if the allow list has them. */
  readonly exclusive: Readonly<Record<"command" | "path" | "host" | "mcp", boolean>>;
}

const COMMAND_KINDS = ["prefix", "exact", "script", "regex"] as const;
const compiled = new WeakMap<Policy, CompiledPolicy>();

/** Compiles a policy once. The result lives as long as the policy. */
export function compilePolicy(policy: Policy): CompiledPolicy {
  const known = compiled.get(policy);
  if (known !== undefined) return known;
  const compileAll = (list: RuleList): readonly CompiledRule[] =>
    policy[list].map((rule, index) => {
      const id = `${list}[${index}]`;
      return { ...NO_MATCHERS, rule, id, ...compileSubject(rule, id, policy.workspace.roots) };
    });
  const { deny, ask, allow, additionalAllow, network } = policy;
  const all = [...deny, ...ask, ...allow, ...additionalAllow];
  const has = (rules: readonly Rule[], ...kinds: readonly Rule["kind"][]): boolean =>
    rules.some(({ kind }) => kinds.includes(kind));
  const preset = PRESETS[policy.preset];
  const result: CompiledPolicy = {
    policy,
    preset,
    deny: compileAll("deny"),
    ask: compileAll("ask"),
    allow: compileAll("allow"),
    additionalAllow: compileAll("additionalAllow"),
    hostsDenied: network.deny.map(compileHostPattern),
    hostsAllowed: network.allow.map(compileHostPattern),
    presetHosts: preset.hosts.map(compileHostPattern),
    hasRules: all.length > 0,
    hasCommandRules: has([...deny, ...ask], ...COMMAND_KINDS),
    hasPathRules: has(all, "path"),
    kindVerdicts: new Map(),
    exclusive: {
      command: has(allow, ...COMMAND_KINDS),
      path: has(allow, "path"),
      host: has(allow, "host"),
      mcp: has(allow, "mcp"),
    },
  };
  compiled.set(policy, result);
  return result;
}

const never = (): boolean => false;
const NO_MATCHERS = {
  patterns: [],
  searches: never,
  matchesWhole: never,
  path: never,
  globs: [],
  host: never,
};

function compileSubject(rule: Rule, id: string, roots: readonly string[]): Partial<CompiledRule> {
  switch (rule.kind) {
    case "prefix":
    case "exact":
      if (rule.argv.length > 0 && rule.argv.every((word) => word.length > 0))
        return { patterns: compilePatterns(rule.argv) };
      throw new PolicyError("invalid_rule", `${id}: a rule about commands needs at least the program's name`);
    case "regex":
      return compileRegex(rule.pattern, id);
    case "path": {
      if (rule.literal === true) return { path: (path) => path === rule.glob, globs: [rule.glob] };
      const globs = /^(?:\/|\*\*)/.test(rule.glob)
        ? [rule.glob]
        : roots.map((root) => `${resolvePath("/", root)}/${rule.glob.replace(/^\.\//, "")}`);
      const matchers = globs.map(compileGlob);
      return { globs, path: (path) => matchers.some((matches) => matches(path)) };
    }
    case "host":
      return { host: compileHostPattern(rule.host) };
    default:
      return {};
  }
}

/** RE2 runs in time proportional to the text, so no pattern can hang. */
function compileRegex(pattern: string, id: string): Partial<CompiledRule> {
  try {
    const regex = RE2JS.compile(pattern, RE2JS.DOTALL);
    return {
      // All of the text or nothing: a denial that sees only the beginning could be evaded by padding.
      searches: (text, budget) => budget.spend("searchedChars", text.length) && regex.test(text),
      matchesWhole: (text) => text.length <= LIMITS.regexChars && regex.testExact(text),
    };
  } catch (cause) {
    const message = `${id}: /${pattern}/ is not a regular expression in RE2 syntax`;
    throw new PolicyError("invalid_regex", message, { cause });
  }
}
