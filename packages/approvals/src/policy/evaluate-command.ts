import type { Places } from "../files/places.ts";
import { describeCommand } from "../programs/describe.ts";
import type { CommandRequest } from "../request/request.ts";
import { inspectDownloads } from "../safety/downloads.ts";
import { inspect, inspectSending } from "../safety/inspect.ts";
import { mayRunRefused } from "../safety/may-run.ts";
import type { Invocation } from "../shell/invocation.ts";
import { readArgv, readSource } from "../shell/read-source.ts";
import { commandText, plainValue } from "../shell/value.ts";
import type { CompiledPolicy } from "./compile-policy.ts";
import {
  cautionVerdict,
  evaluation,
  strictest,
  type CommandVerdict,
  type Evaluation,
  type Verdict,
} from "./evaluation.ts";
import { judgeEffects } from "./judge-effects.ts";
import { matchAllow, matchDeny } from "./match-command.ts";
import { describeRule, type Lasting } from "./rule.ts";

/** Judges every simple command of a command line; the strictest verdict is the answer. */
export function evaluateCommand(request: CommandRequest, places: Places, policy: CompiledPolicy): Evaluation {
  const { command } = request;
  const source = typeof command === "string" ? command : undefined;
  const reading =
    typeof command === "string" ? readSource(command, places) : readArgv(command.map(plainValue), places);
  const { invocations } = reading;
  if (!policy.preset.safety)
    return evaluation(
      { decision: "allow", rule: "preset/bypass", reason: "nothing is checked" },
      { parse: unchecked(invocations) },
    );

  const whole = wholeScriptRule(source, policy);
  const index = new Map<Invocation, number>();
  const covered = new Set<Invocation>();
  const parse: CommandVerdict[] = [];
  const flows = [inspectDownloads(invocations), inspectSending(invocations)];
  for (const [at, invocation] of invocations.entries()) {
    index.set(invocation, at);
    const exactly = invocation.parent !== undefined && covered.has(invocation.parent);
    for (const flow of flows) if (flow?.invocation === invocation) invocation.findings.push(flow.finding);
    const verdict = judge(invocation, exactly || whole !== undefined, places, policy);
    if (exactly || verdict.exact) covered.add(invocation);
    parse.push({
      decision: verdict.decision,
      reason: verdict.reason,
      rule: verdict.rule,
      ...(verdict.matched === undefined ? {} : { matched: verdict.matched }),
      command: textOf(invocation),
      parent: invocation.parent === undefined ? -1 : (index.get(invocation.parent) ?? -1),
    });
  }
  const verdicts: Verdict[] = [...parse];
  for (const { level, rule, reason } of reading.findings) {
    if (level === "deny") verdicts.push({ decision: "deny", rule: `safety/${rule}`, reason });
    else if (whole === undefined) verdicts.push(cautionVerdict(rule, reason, policy.policy.default));
  }
  if (source !== undefined) verdicts.push(...rawDenies(source, policy));
  if (request.stdin === true && whole === undefined)
    verdicts.push(cautionVerdict("stdin", "types into a process that already runs", policy.policy.default));
  const worst = strictest(verdicts);
  if (worst === undefined)
    return evaluation(cautionVerdict("empty", "no command to judge", policy.policy.default));
  if (whole !== undefined && worst.decision !== "deny")
    return evaluation(whole, { parse, lasting: whole.matched?.lasting ?? "session" });
  return evaluation(withoutText(worst), {
    parse,
    lasting: worst.decision === "allow" ? lastingOf(parse) : "call",
  });
}

/** The verdict of one command as the verdict of all. */
function withoutText({ decision, reason, rule, matched }: Verdict): Verdict {
  return matched === undefined ? { decision, reason, rule } : { decision, reason, rule, matched };
}

type Judged = Verdict & { readonly exact?: boolean };

function judge(invocation: Invocation, exactly: boolean, places: Places, policy: CompiledPolicy): Judged {
  const effects = invocation.wraps ? [] : describeCommand(invocation, places);
  const findings = inspect(invocation, effects, places);
  const safety = findings.find(({ level }) => level === "deny");
  if (safety !== undefined) return { decision: "deny", rule: `safety/${safety.rule}`, reason: safety.reason };

  let maybe: Verdict | undefined;
  for (const rule of invocation.argv.length === 0 ? [] : policy.deny) {
    const match = matchDeny(rule, invocation);
    if (match === "yes")
      return {
        decision: "deny",
        rule: rule.id,
        reason: `denied by ${describeRule(rule.rule)}`,
        matched: rule.rule,
      };
    if (match === "maybe")
      maybe ??= cautionVerdict(
        "may-be-denied",
        `may turn out to be ${describeRule(rule.rule)}`,
        policy.policy.default,
      );
  }
  // Paths are judged even for a command that a rule allows: `deny` comes before `allow`.
  const judged = judgeEffects(effects, invocation, places, policy);
  const deniedPath = judged.find(({ decision, matched }) => decision === "deny" && matched !== undefined);
  if (deniedPath !== undefined) return deniedPath;
  if (maybe !== undefined && !exactly) return maybe;

  const caution = findings.find(({ level }) => level === "ask") ?? mayRunRefused(invocation, effects, places);
  for (const rule of [...policy.allow, ...policy.alsoAllow]) {
    const match = matchAllow(rule, invocation);
    if (match === undefined || (caution !== undefined && !match.exact && !exactly)) continue;
    return {
      decision: "allow",
      rule: rule.id,
      reason: `allowed by ${describeRule(rule.rule)}`,
      matched: rule.rule,
      exact: match.exact,
    };
  }
  if (exactly) return { decision: "allow", rule: "wrapper", reason: "part of what an exact rule allows" };
  if (caution !== undefined) return cautionVerdict(caution.rule, caution.reason, policy.policy.default);
  if (invocation.wraps || invocation.isFunction || effects.length === 0) {
    return (
      strictest(judged) ?? {
        decision: "allow",
        rule: invocation.wraps ? "wrapper" : "nothing",
        reason: "only runs what follows",
      }
    );
  }
  const worst = strictest(judged);
  if (worst === undefined) return { decision: "allow", rule: "nothing", reason: "does nothing of note" };
  if (worst.decision === "allow" && policy.exclusive.command)
    return {
      decision: policy.policy.default === "ask" ? "ask" : "deny",
      rule: "allow",
      reason: "not in the allow list",
    };
  return worst;
}

function wholeScriptRule(source: string | undefined, policy: CompiledPolicy): Verdict | undefined {
  if (source === undefined) return undefined;
  const found = [...policy.allow, ...policy.alsoAllow].find(
    ({ rule }) => rule.kind === "script" && rule.text === source,
  );
  return found === undefined
    ? undefined
    : {
        decision: "allow",
        rule: found.id,
        reason: "exactly this command line is allowed",
        matched: found.rule,
      };
}

/** Regular expressions and exact scripts that deny also see the text as it arrived. */
function rawDenies(source: string, policy: CompiledPolicy): Verdict[] {
  return policy.deny
    .filter(({ rule, searches }) => (rule.kind === "script" && rule.text === source) || searches(source))
    .map(({ rule, id }) => ({
      decision: "deny",
      rule: id,
      reason: `denied by ${describeRule(rule)}`,
      matched: rule,
    }));
}

/** As long as the shortest of the rules that allowed it; a preset's word is for this call alone. */
function lastingOf(parse: readonly CommandVerdict[]): Lasting {
  let lasting: Lasting = "always";
  for (const { matched, rule } of parse) {
    if (rule === "wrapper" || rule === "nothing") continue;
    if (matched === undefined) return "call";
    const own = matched.lasting ?? (matched.kind === "path" || matched.kind === "host" ? "call" : "session");
    if (own === "call") return "call";
    if (own === "session") lasting = "session";
  }
  return parse.length === 0 ? "call" : lasting;
}

function unchecked(invocations: readonly Invocation[]): CommandVerdict[] {
  return invocations.map((invocation) => ({
    decision: "allow",
    rule: "preset/bypass",
    reason: "nothing is checked",
    command: textOf(invocation),
    parent: invocation.parent === undefined ? -1 : invocations.indexOf(invocation.parent),
  }));
}

function textOf({ argv, assignments, redirects }: Invocation): string {
  if (argv.length > 0) return commandText(argv).slice(0, 400);
  if (assignments.length > 0) return assignments.map(({ name }) => `${name}=…`).join(" ");
  return redirects
    .map(({ mode, target }) => `${mode === "write" ? ">" : "<"} ${target.text.replaceAll("\u0000", "…")}`)
    .join(" ");
}
