import { findDenial } from "./find-denial.ts";
import type { Workspace } from "../files/workspace.ts";
import type { CommandRequest } from "../request/request.ts";
import { readScript } from "../shell/read-script.ts";
import { WorkBudget } from "../shell/work-budget.ts";
import { unwrapShell, type Unwrapped } from "../shell/unwrap-shell.ts";
import { literal } from "../programs/declaration/word.ts";
import { parseSource } from "../shell/parse-source.ts";
import type { PlainCommand, PlainScript } from "../shell/plain-script.ts";
import type { CompiledPolicy, CompiledRule } from "./compile-policy.ts";
import {
  cautionVerdict,
  evaluation,
  isBinding,
  notUnderstoodVerdict,
  pickStricter,
  type CommandVerdict,
  type PolicyEvaluation,
  type Verdict,
  ruleVerdict,
} from "./evaluation.ts";
import { CommandJudge } from "./judge-commands.ts";
import type { DecisionScope } from "./rule.ts";

/** Judges every simple command of a script; the strictest verdict is the answer. Denials are a layer of their own. */
export function evaluateCommand(
  request: CommandRequest,
  workspace: Workspace,
  policy: CompiledPolicy,
): PolicyEvaluation {
  if (!policy.preset.safety)
    return evaluation({ decision: "allow", rule: "preset/bypass", reason: "nothing is checked" });
  const unwrapped = unwrapShell(request.command);
  const budget = new WorkBudget();
  const script = scriptOf(unwrapped, workspace, budget);
  const judge = new CommandJudge(workspace, policy, budget);
  const judged = judge.judge(script.commands);
  const parse = judge.verdicts;
  const source = unwrapped.kind === "script" ? unwrapped.script : unwrapped.words.join(" ");
  const isUnderstood = script.problem === undefined && !parse.some(({ rule }) => rule === "not-understood");
  const { calls, denied } = judge;
  const denial = findDenial({ source, script, calls, denied, isUnderstood, budget }, workspace, policy);
  if (denial?.decision === "deny") return evaluation(denial, { parse });
  const problem = script.problem === undefined ? undefined : problemVerdict(script.problem, policy);
  const judgedOrProblem = judged === undefined ? problem : pickStricter(problem, judged);
  // A question of the user's that was found in the text outranks every permission.
  const worst = denial === undefined ? judgedOrProblem : pickStricter(judgedOrProblem, denial);
  if (worst === undefined)
    return evaluation(cautionVerdict("empty", "no command to judge", policy.policy.default));
  const whole = wholeRequestRule(request, source, workspace.cwd, policy);
  if (request.stdin === true && whole === undefined)
    return evaluation(
      cautionVerdict("stdin", "types into a process that already runs", policy.policy.default),
      { parse },
    );
  if (
    whole !== undefined &&
    denial === undefined &&
    !isBinding(worst, policy) &&
    !parse.some((verdict) => isBinding(verdict, policy))
  )
    return evaluation(whole, { parse, scope: whole.matched?.scope ?? "session" });
  return evaluation(worst, {
    parse,
    scope: worst.decision === "allow" ? scopeOf(parse) : "call",
  });
}

function scriptOf(unwrapped: Unwrapped, workspace: Workspace, budget: WorkBudget): PlainScript {
  if (unwrapped.kind === "script")
    return readScript(unwrapped.script, {
      dialect: unwrapped.dialect,
      home: workspace.home,
      folders: [workspace.cwd],
      budget,
    });
  const { words } = unwrapped;
  const text = words.join(" ");
  const command: PlainCommand = {
    words: words.map(literal),
    environment: [],
    redirects: [],
    input: { kind: "inherited" },
    folders: [workspace.cwd],
    text,
  };
  return { commands: words.length === 0 ? [] : [command], syntax: parseSource(text) };
}

/** What is too long for the denials to see is asked about even where everything else is allowed. */
function problemVerdict(problem: string, policy: CompiledPolicy): Verdict {
  const verdict = notUnderstoodVerdict(problem, policy);
  return problem === "too long to judge" && verdict.decision === "allow"
    ? { ...verdict, decision: "ask" }
    : verdict;
}

/** The verdict of a rule for exactly this request. */
function wholeRequestRule(
  { command, stdin }: CommandRequest,
  source: string,
  cwd: string,
  policy: CompiledPolicy,
): Verdict | undefined {
  const isThis = ({ rule }: CompiledRule): boolean => {
    if (rule.kind === "script")
      return (
        (rule.text === command || rule.text === source) &&
        (rule.folder ?? cwd) === cwd &&
        (stdin === true) === (rule.stdin === true)
      );
    return (
      rule.kind === "exact" &&
      rule.folder === cwd &&
      stdin !== true &&
      typeof command !== "string" &&
      command.length === rule.argv.length &&
      command.every((word, index) => word === rule.argv[index])
    );
  };
  const found = policy.allow.find(isThis) ?? policy.additionalAllow.find(isThis);
  return found === undefined ? undefined : ruleVerdict(found, "allow", "exactly this command");
}

/** The shortest duration of the rules that allowed the commands. A preset allows one call only. */
function scopeOf(parse: readonly CommandVerdict[]): DecisionScope {
  let scope: DecisionScope = "always";
  for (const { matched, rule } of parse) {
    if (rule === "nothing") continue;
    const own = matched === undefined ? "call" : (matched.scope ?? "session");
    if (own === "call") return "call";
    if (own === "session") scope = "session";
  }
  return parse.length === 0 ? "call" : scope;
}
