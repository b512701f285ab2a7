import { isStricter, type Decision } from "../decision.ts";
import type { PermissionProfile } from "../request/request.ts";
import type { CompiledPolicy, CompiledRule } from "./compile-policy.ts";
import { describeRule, type DecisionScope, type Rule } from "./rule.ts";

/** The decision about a part of a request, and the rule that made it. */
export interface Verdict {
  readonly decision: Decision;
  /** One sentence for a person. */
  readonly reason: string;
  /** What decided: `safety/privilege`, `deny[0]`, `ask[0]`, `allow[1]`, `preset/developer/read`, `not-understood`, `default`. */
  readonly rule: string;
  /** The user's rule, if one decided. */
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
  /** For permissions: what is granted without asking, and what is granted if a person agrees. */
  readonly grant?: Grant | undefined;
}

export interface Grant {
  readonly allowed: PermissionProfile;
  readonly ifAccepted: PermissionProfile;
}

export function evaluation(
  { decision, reason, rule, matched }: Verdict,
  { parse = [], scope = "call", grant }: Partial<PolicyEvaluation> = {},
): PolicyEvaluation {
  return { decision, reason, rule, matched, parse, scope, grant };
}

/**
 * The stricter of two verdicts. Among equals the first one, but among those that allow the one with most to say, and among
 * the others one that a rule which allows can't answer.
 */
export function pickStricter(first: Verdict | undefined, second: Verdict): Verdict {
  if (first === undefined) return second;
  if (first === second) return first;
  if (first.decision !== second.decision) return isStricter(second.decision, first.decision) ? second : first;
  if (first.decision === "allow") return weightOf(second.rule) > weightOf(first.rule) ? second : first;
  return isFirm(second) && !isFirm(first) ? second : first;
}

/** Whether safety, a denial or a question of the user's decided. */
function isFirm({ rule }: Verdict): boolean {
  return /^(?:safety\/|deny\[|ask\[|network\.deny$)/.test(rule);
}

/**
 * Whether a verdict holds against every rule that allows a command or a script: a refusal of the safety rules, a denial or
 * question of the user's, and what the policy itself says about hosts and effects. All others are questions that such a
 * rule answers.
 */
export function isBinding(verdict: Verdict, { policy }: CompiledPolicy): boolean {
  if (verdict.decision === "allow") return false;
  if (isFirm(verdict) || verdict.rule.startsWith("effects.")) return true;
  if (verdict.rule === "network.loopback") return policy.network.loopback !== undefined;
  return verdict.rule === "network.private" && policy.network.private !== undefined;
}

/** The strictest of several verdicts. */
export function strictest(verdicts: readonly Verdict[]): Verdict | undefined {
  let worst: Verdict | undefined;
  for (const verdict of verdicts) worst = pickStricter(worst, verdict);
  return worst;
}

/** Whether safety or a denial of the user's refused: nothing that allows can change that. */
export function isRefused({ decision, rule }: Verdict): boolean {
  return decision === "deny" && (rule.startsWith("safety/") || rule.startsWith("deny["));
}

/** Which of several things that are allowed the reason names: the one with the most consequences. */
const WEIGHTS: ReadonlyMap<string, number> = new Map(
  (
    "nothing read write process git-local project-code unpack container install git-fetch remote-read git-push " +
    "loopback private hosts network"
  )
    .split(" ")
    .map((name, index) => [name, index]),
);

/** `preset/developer/install` weighs what `install` does; a rule of the user's weighs most. */
function weightOf(rule: string): number {
  const name = rule.slice(Math.max(rule.lastIndexOf("/"), rule.lastIndexOf(".")) + 1);
  return WEIGHTS.get(name) ?? WEIGHTS.size;
}

interface RuleMatchers {
  readonly tightens: (rule: CompiledRule) => boolean;
  readonly allows: (rule: CompiledRule) => boolean;
}

/** The verdict of the first of the user's rules that matches: denials, then questions, then permissions. */
export function judgeByFirstRule(
  { deny, ask, allow, additionalAllow }: CompiledPolicy,
  what: string,
  { tightens, allows }: RuleMatchers,
): Verdict | undefined {
  const denied = deny.find(tightens);
  if (denied !== undefined) return ruleVerdict(denied, "deny", what);
  const asked = ask.find(tightens);
  if (asked !== undefined) return ruleVerdict(asked, "ask", what);
  const allowed = allow.find(allows) ?? additionalAllow.find(allows);
  return allowed && ruleVerdict(allowed, "allow", what);
}

/** The verdict of a user's rule, with its justification. */
export function ruleVerdict({ rule, id }: CompiledRule, decision: Decision, what: string): Verdict {
  const verb = { allow: "allowed", ask: "to be asked about", deny: "denied" }[decision];
  const why = rule.justification === undefined ? "" : `: ${rule.justification}`;
  return { decision, rule: id, reason: `${what} is ${verb} by ${describeRule(rule)}${why}`, matched: rule };
}

/** The verdict on something that is not understood: the default. */
export function notUnderstoodVerdict(problem: string, { policy, exclusive }: CompiledPolicy): Verdict {
  const decision = exclusive.command && policy.default === "allow" ? "deny" : policy.default;
  return { decision, rule: "not-understood", reason: problem };
}

/** A caution is never allowed: it is asked about, or denied if the default is to deny. */
export function cautionVerdict(rule: string, reason: string, fallback: Decision): Verdict {
  return { decision: fallback === "deny" ? "deny" : "ask", rule: `caution/${rule}`, reason };
}

/** The verdict if no rule and no preset decides: the default, but never "allow" if there is an allow list. */
export function defaultVerdict(fallback: Decision, exclusive: boolean, reason: string): Verdict {
  if (!exclusive) return { decision: fallback, rule: "default", reason };
  return { decision: fallback === "ask" ? "ask" : "deny", rule: "allow", reason: "not in the allow list" };
}
