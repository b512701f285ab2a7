import { RE2JS } from "re2js";
import { PolicyError } from "../errors.ts";
import { compileGlob, type PathGlob } from "../files/glob.ts";
import { resolvePath } from "../files/path.ts";
import { LIMITS } from "../limits.ts";
import { compilePatterns, type CommandPattern } from "./command-pattern.ts";
import { compileHostPattern, type HostPattern } from "../network/host-pattern.ts";
import type { WorkBudget } from "../shell/work-budget.ts";
import type { Policy } from "./policy.ts";
import type { Verdict } from "./evaluation.ts";
import { PRESETS, type EffectKind, type Preset } from "./presets.ts";
import { describeRule, type Rule } from "./rule.ts";

/** A rule with its patterns compiled. */
export interface CompiledRule {
  readonly rule: Rule;
  /** `deny[0]`, `allow[2]`: how a verdict names it. */
  readonly id: string;
  /** The words of a rule about commands, for denials and questions. */
  readonly patterns: readonly CommandPattern[];
  /** False also if the budget is exhausted, which `findDenial` then asks about. */
  readonly searches: (text: string, budget: WorkBudget) => boolean;
  readonly matchesWhole: (text: string) => boolean;
  readonly path: PathGlob;
  /** The absolute globs of a rule about paths. */
  readonly globs: readonly string[];
  readonly host: HostPattern;
}

export interface CompiledPolicy {
  readonly policy: Policy;
  readonly preset: Preset;
  readonly deny: readonly CompiledRule[];
  readonly ask: readonly CompiledRule[];
  readonly allow: readonly CompiledRule[];
  readonly additionalAllow: readonly CompiledRule[];
  readonly hostsDenied: readonly HostPattern[];
  readonly hostsAllowed: readonly HostPattern[];
  readonly presetHosts: readonly HostPattern[];
  /** Whether the user has any rules. */
  readonly hasRules: boolean;
  /** Whether a denial or a question is about commands. */
  readonly hasCommandRules: boolean;
  /** Without any, a path is judged by where it lies alone. */
  readonly hasPathRules: boolean;
  /** The verdicts on kinds of effects that were needed so far. */
  readonly kindVerdicts: Map<EffectKind, Verdict>;
  /** Kinds of requests of which only those in the allow list are allowed. */
  readonly exclusive: {
    readonly command: boolean;
    readonly path: boolean;
    readonly host: boolean;
    readonly mcp: boolean;
  };
}

const COMMAND_KINDS = ["prefix", "exact", "script", "regex"] as const;
const never = (): boolean => false;
const compiled = new WeakMap<Policy, CompiledPolicy>();

/** Compiles a policy once; the result lives as long as the policy does. */
export function compilePolicy(policy: Policy): CompiledPolicy {
  const known = compiled.get(policy);
  if (known !== undefined) return known;
  const compileAll = (list: "deny" | "ask" | "allow" | "additionalAllow"): readonly CompiledRule[] =>
    policy[list].map((rule, index) => compileRule(rule, `${list}[${index}]`, policy.workspace.roots));
  const has = (rules: readonly Rule[], ...kinds: readonly Rule["kind"][]): boolean =>
    rules.some(({ kind }) => kinds.includes(kind));
  const { deny, ask, allow, additionalAllow, network } = policy;
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
    hasRules: deny.length + ask.length + allow.length + additionalAllow.length > 0,
    hasCommandRules: has([...deny, ...ask], ...COMMAND_KINDS),
    hasPathRules: has([...deny, ...ask, ...allow, ...additionalAllow], "path"),
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

const MATCHES_NOTHING = {
  patterns: [],
  searches: never,
  matchesWhole: never,
  path: never,
  globs: [],
  host: never,
};

function compileRule(rule: Rule, id: string, roots: readonly string[]): CompiledRule {
  return { ...MATCHES_NOTHING, rule, id, ...compileSubject(rule, id, roots) };
}

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
    case "mcp":
      if (rule.server !== "") return {};
      throw new PolicyError("invalid_rule", `${id}: ${describeRule(rule)} names no server`);
    case "script":
      return {};
  }
}

/** RE2 runs in time proportional to the text, so no pattern can be made to hang. */
function compileRegex(pattern: string, id: string): Pick<CompiledRule, "searches" | "matchesWhole"> {
  try {
    const regex = RE2JS.compile(pattern, RE2JS.DOTALL);
    return {
      // All of the text or nothing: a denial that sees only the beginning could be evaded by padding.
      searches: (text, budget) => budget.spend("searchedChars", text.length) && regex.test(text),
      matchesWhole: (text) => text.length <= LIMITS.regexChars && regex.testExact(text),
    };
  } catch (cause) {
    throw new PolicyError("invalid_regex", `${id}: /${pattern}/ is not a regular expression in RE2 syntax`, {
      cause,
    });
  }
}
