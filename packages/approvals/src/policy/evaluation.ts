import type { CompiledPolicy, CompiledRule } from "./compile-policy.ts";
import { EFFECT_KINDS, type Decision } from "./presets.ts";
import { describeRule, type DecisionScope, type Rule } from "./rule.ts";

/** The decision about a part of a request, and the rule that made it. */
export interface Verdict {
  readonly decision: Decision;
  /** One sentence for a person. */
  readonly reason: string;
  /** What decided: `safety/privilege`, `deny[0]`, `ask[0]`, `allow[1]`, `preset/developer/read`, `not-understood`, `default`. */
  readonly rule: string;
  readonly matched?: Rule | undefined;
}

/** One simple command of a command line and its verdict. */
export interface CommandVerdict extends Verdict {
  /** The command as text. `…` replaces parts that are known only when it runs. */
  readonly command: string;
  /** The index of the command that runs it, or -1 for a command of the script itself. */
  readonly parent: number;
}

/** The policy's decision about a request. */
export interface PolicyEvaluation extends Verdict {
  /** For commands: everything that would run, in source order. */
  readonly parse: readonly CommandVerdict[];
  /** How long Codex may remember an accept. More than `call` only if rules about the command itself allowed it. */
  readonly scope: DecisionScope;
}

export function evaluation(
  { decision, reason, rule, matched }: Verdict,
  { parse = [], scope = "call" }: Partial<PolicyEvaluation> = {},
): PolicyEvaluation {
  return { decision, reason, rule, matched, parse, scope };
}

const STRICTNESS: Readonly<Record<Decision, number>> = { allow: 0, ask: 1, deny: 2 };

/**
 * The stricter of two verdicts. Of two that allow, the one with the most consequences; of two other equal ones, one that no allow
 * rule can override. Otherwise the first one.
 */
export function pickStricter(first: Verdict | undefined, second: Verdict): Verdict;
export function pickStricter(first: Verdict | undefined, second: Verdict | undefined): Verdict | undefined;
export function pickStricter(first: Verdict | undefined, second: Verdict | undefined): Verdict | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  if (first === second) return first;
  if (first.decision !== second.decision)
    return STRICTNESS[second.decision] > STRICTNESS[first.decision] ? second : first;
  if (first.decision === "allow")
    return first.rule !== second.rule && weightOf(second.rule) > weightOf(first.rule) ? second : first;
  return isFirm(second) && !isFirm(first) ? second : first;
}

/** Ranks verdicts that allow: the reason names the effect with the most consequences, but a user's rule comes first. */
const WEIGHTS = new Map(
  ["nothing", ...EFFECT_KINDS, "loopback", "private", "hosts"].map((name, index) => [name, index]),
);

function weightOf(rule: string): number {
  return WEIGHTS.get(rule.slice(Math.max(rule.lastIndexOf("/"), rule.lastIndexOf(".")) + 1)) ?? WEIGHTS.size;
}

/** Whether a safety rule, or one of the user's deny or ask rules, decided. */
function isFirm({ rule }: Verdict): boolean {
  return /^(?:safety\/|deny\[|ask\[|network\.deny$)/.test(rule);
}

/**
 * Whether no rule that allows a command or a script can override a verdict: a refusal by the safety rules, a decision of the
 * user's deny or ask rules, or the policy's own settings for hosts and effects.
 */
export function isBinding(verdict: Verdict, { policy: { network } }: CompiledPolicy): boolean {
  if (verdict.decision === "allow") return false;
  if (isFirm(verdict) || verdict.rule.startsWith("effects.")) return true;
  if (verdict.rule === "network.loopback") return network.loopback !== undefined;
  return verdict.rule === "network.private" && network.private !== undefined;
}

/** Whether a safety rule or one of the user's deny rules refused, which no allow rule can override. */
export function isRefused({ decision, rule }: Verdict): boolean {
  return decision === "deny" && /^(?:safety\/|deny\[)/.test(rule);
}

/** `maybe`: the deciding part is not named, or is known only at run time. */
export type Match = "yes" | "maybe" | "no";

interface RuleMatchers {
  readonly tightens: (rule: CompiledRule) => Match | boolean;
  readonly allows: (rule: CompiledRule) => boolean;
  /** The verdict if a deny or ask rule may match, and none certainly does. */
  readonly unclear?: (rule: CompiledRule) => Verdict | undefined;
}

/** The verdict of the first of the user's rules that matches: deny rules, then ask rules, then allow rules. */
export function judgeByFirstRule(
  policy: CompiledPolicy,
  what: string,
  { tightens, allows, unclear }: RuleMatchers,
): Verdict | undefined {
  if (!policy.hasRules) return undefined;
  for (const decision of ["deny", "ask"] as const) {
    let maybe: CompiledRule | undefined;
    for (const rule of policy[decision]) {
      const match = tightens(rule);
      if (match === "yes" || match === true) return ruleVerdict(rule, decision, what);
      if (match === "maybe") maybe ??= rule;
    }
    const verdict = maybe && unclear?.(maybe);
    if (verdict !== undefined) return verdict;
  }
  const allowed = policy.allow.find(allows) ?? policy.additionalAllow.find(allows);
  return allowed && ruleVerdict(allowed, "allow", what);
}

function ruleVerdict({ rule, id }: CompiledRule, decision: Decision, what: string): Verdict {
  const verb = { allow: "allowed", ask: "to be asked about", deny: "denied" }[decision];
  const why = rule.justification === undefined ? "" : `: ${rule.justification}`;
  return { decision, rule: id, reason: `${what} is ${verb} by ${describeRule(rule)}${why}`, matched: rule };
}

export const BYPASSED: Verdict = { decision: "allow", rule: "preset/bypass", reason: "nothing is checked" };

export function refusal(rule: string, reason: string): Verdict {
  return { decision: "deny", rule: `safety/${rule}`, reason };
}

export function notUnderstoodVerdict(reason: string, { policy, exclusive }: CompiledPolicy): Verdict {
  const decision = exclusive.command && policy.default === "allow" ? "deny" : policy.default;
  return { decision, rule: "not-understood", reason };
}

/** A caution is never allowed. It is asked about, or denied if that is the default. */
export function cautionVerdict(rule: string, reason: string, { policy }: CompiledPolicy): Verdict {
  return { decision: policy.default === "deny" ? "deny" : "ask", rule: `caution/${rule}`, reason };
}

/** The verdict if no rule and no preset decides: the default, but never "allow" if there is an allow list. */
export function defaultVerdict(fallback: Decision, exclusive: boolean, reason: string): Verdict {
  if (!exclusive) return { decision: fallback, rule: "default", reason };
  return { decision: fallback === "ask" ? "ask" : "deny", rule: "allow", reason: "not in the allow list" };
}
