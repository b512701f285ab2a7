import { findDenial } from "./find-denial.ts";
import type { CommandRequest } from "../request/request.ts";
import { readScript } from "../shell/read-script.ts";
import { unwrapShell, type Unwrapped } from "../shell/unwrap-shell.ts";
import { literal } from "../programs/declaration/word.ts";
import { parseSource } from "../shell/parse-source.ts";
import { INHERITED, type PlainCommand, type PlainScript } from "../shell/plain-script.ts";
import type { CompiledRule } from "./compile-policy.ts";
import {
  BYPASSED,
  cautionVerdict,
  evaluation,
  isBinding,
  judgeByFirstRule,
  notUnderstoodVerdict,
  pickStricter,
  type CommandVerdict,
  type PolicyEvaluation,
} from "./evaluation.ts";
import { CommandJudge } from "./judge-commands.ts";
import type { JudgeContext } from "./judge-path.ts";
import type { DecisionScope } from "./rule.ts";

/** Judges every simple command of a script. The strictest verdict wins. Denials are a separate layer. */
export function evaluateCommand(request: CommandRequest, context: JudgeContext): PolicyEvaluation {
  const { policy } = context;
  if (!policy.preset.safety) return evaluation(BYPASSED);
  const unwrapped = unwrapShell(request.command);
  const script = scriptOf(unwrapped, context);
  const judge = new CommandJudge(context);
  const judged = judge.judge(script.commands);
  const parse = judge.verdicts;
  const source = unwrapped.kind === "script" ? unwrapped.script : unwrapped.words.join(" ");
  const denial = findDenial(source, script, judge, context);
  if (denial?.decision === "deny") return evaluation(denial, { parse });
  let problem = script.problem === undefined ? undefined : notUnderstoodVerdict(script.problem, policy);
  // A script that is too long to search for denials is asked about even if everything else is allowed.
  if (script.problem === "too long to judge" && problem?.decision === "allow")
    problem = { ...problem, decision: "ask" };
  // An ask rule that matches the text takes precedence over every allow rule.
  const worst = pickStricter(pickStricter(problem, judged), denial);
  if (worst === undefined) return evaluation(cautionVerdict("empty", "no command to judge", policy));
  // A shell other than Codex's own may read the same text differently.
  const isOwnShell = unwrapped.kind === "script" && unwrapped.dialect !== "unknown";
  const whole = judgeByFirstRule(policy, "exactly this command", {
    tightens: () => false,
    allows: (rule) => allowsWhole(rule, request, isOwnShell ? source : undefined, context.workspace.cwd),
  });
  if (request.stdin === true && whole === undefined)
    return evaluation(cautionVerdict("stdin", "types into a running process", policy), { parse });
  const isBound = denial !== undefined || [worst, ...parse].some((verdict) => isBinding(verdict, policy));
  if (whole !== undefined && !isBound)
    return evaluation(whole, { parse, scope: whole.matched?.scope ?? "session" });
  return evaluation(worst, { parse, scope: worst.decision === "allow" ? scopeOf(parse) : "call" });
}

function scriptOf(unwrapped: Unwrapped, { workspace, budget }: JudgeContext): PlainScript {
  const { cwd, home } = workspace;
  if (unwrapped.kind === "script")
    return readScript(unwrapped.script, { dialect: unwrapped.dialect, home, folders: [cwd], budget });
  const { words } = unwrapped;
  const text = words.join(" ");
  const shellParts = { environment: [], redirects: [], input: INHERITED };
  const command: PlainCommand = { words: words.map(literal), ...shellParts, folders: [cwd], text };
  return { commands: words.length === 0 ? [] : [command], syntax: parseSource(text) };
}

function allowsWhole(
  { rule }: CompiledRule,
  { command, stdin = false }: CommandRequest,
  source: string | undefined,
  cwd: string,
): boolean {
  if (rule.kind === "script")
    return (
      (rule.text === command || rule.text === source) &&
      (rule.folder ?? cwd) === cwd &&
      (rule.stdin ?? false) === stdin
    );
  if (rule.kind !== "exact" || rule.folder !== cwd || stdin || typeof command === "string") return false;
  return command.length === rule.argv.length && command.every((word, index) => word === rule.argv[index]);
}

/** The shortest duration of the rules that allowed the commands. A preset allows only one call. */
function scopeOf(parse: readonly CommandVerdict[]): DecisionScope {
  const ruled = parse.filter(({ rule }) => rule !== "nothing");
  const scopes = new Set(ruled.map(({ matched }) => (matched ? (matched.scope ?? "session") : "call")));
  if (parse.length === 0 || scopes.has("call")) return "call";
  return scopes.has("session") ? "session" : "always";
}
