import { findDenial } from "./find-denial.ts";
import type { Places } from "../files/places.ts";
import type { CommandRequest } from "../request/request.ts";
import { readScript } from "../shell/read-script.ts";
import { unwrapShell, type Unwrapped } from "../shell/unwrap-shell.ts";
import type { PlainScript } from "../shell/plain-script.ts";
import type { CompiledPolicy } from "./compile-policy.ts";
import {
  cautionVerdict,
  evaluation,
  notUnderstoodVerdict,
  strictest,
  type CommandVerdict,
  type Evaluation,
  type Verdict,
} from "./evaluation.ts";
import { CommandJudge } from "./judge-commands.ts";
import { ruleVerdict } from "./judge-path.ts";
import type { Lasting } from "./rule.ts";

/** Judges every simple command of a script; the strictest verdict is the answer. Denials are a layer of their own. */
export function evaluateCommand(request: CommandRequest, places: Places, policy: CompiledPolicy): Evaluation {
  if (!policy.preset.safety)
    return evaluation({ decision: "allow", rule: "preset/bypass", reason: "nothing is checked" });
  const unwrapped = unwrapShell(request.command);
  const script = scriptOf(unwrapped, places);
  const judge = new CommandJudge(places, policy);
  judge.judge(script.commands);
  const parse = judge.verdicts;
  const source = unwrapped.kind === "script" ? unwrapped.script : unwrapped.words.join(" ");
  const isUnderstood = script.problem === undefined && !parse.some(({ rule }) => rule === "not-understood");
  const denial = findDenial({ source, calls: judge.calls, isUnderstood }, places, policy);
  if (denial !== undefined) return evaluation(denial, { parse });
  const whole = wholeScriptRule(request.command, source, policy);
  const worst = strictest([
    ...(script.problem === undefined ? [] : [problemVerdict(script.problem, policy)]),
    ...parse,
  ]);
  const asked = parse.find(({ rule }) => rule.startsWith("ask["));
  if (worst === undefined)
    return evaluation(cautionVerdict("empty", "no command to judge", policy.policy.default));
  if (request.stdin === true && whole === undefined)
    return evaluation(
      cautionVerdict("stdin", "types into a process that already runs", policy.policy.default),
      { parse },
    );
  if (whole !== undefined && asked === undefined && !isRefused(worst))
    return evaluation(whole, { parse, lasting: whole.matched?.lasting ?? "session" });
  return evaluation(withoutText(worst), {
    parse,
    lasting: worst.decision === "allow" ? lastingOf(parse) : "call",
  });
}

function scriptOf(unwrapped: Unwrapped, places: Places): PlainScript {
  if (unwrapped.kind === "script")
    return readScript(unwrapped.script, {
      dialect: unwrapped.dialect,
      home: places.home,
      folders: [places.cwd],
    });
  if (unwrapped.words.length === 0) return { commands: [] };
  return {
    commands: [
      {
        words: unwrapped.words.map((text) => ({ text })),
        environment: [],
        redirects: [],
        input: { kind: "inherited" },
        folders: [places.cwd],
        text: unwrapped.words.join(" "),
      },
    ],
  };
}

/** What is too long for the denials to see is asked about even where everything else is allowed. */
function problemVerdict(problem: string, policy: CompiledPolicy): Verdict {
  const verdict = notUnderstoodVerdict(problem, policy);
  return problem === "too long to judge" && verdict.decision === "allow"
    ? { ...verdict, decision: "ask" }
    : verdict;
}

function isRefused({ decision, rule }: Verdict): boolean {
  return decision === "deny" && (rule.startsWith("safety/") || rule.startsWith("deny["));
}

/** The verdict of one command as the verdict of all. */
function withoutText({ decision, reason, rule, matched }: Verdict): Verdict {
  return matched === undefined ? { decision, reason, rule } : { decision, reason, rule, matched };
}

function wholeScriptRule(
  command: CommandRequest["command"],
  source: string,
  policy: CompiledPolicy,
): Verdict | undefined {
  const found = [...policy.allow, ...policy.alsoAllow].find(
    ({ rule }) => rule.kind === "script" && (rule.text === command || rule.text === source),
  );
  return found === undefined ? undefined : ruleVerdict(found, "allow", "exactly this script");
}

/** As long as the shortest of the rules that allowed it; a preset's word is for this call alone. */
function lastingOf(parse: readonly CommandVerdict[]): Lasting {
  let lasting: Lasting = "always";
  for (const { matched, rule } of parse) {
    if (rule === "nothing" || rule === "wrapper") continue;
    const own = matched === undefined ? "call" : (matched.lasting ?? "session");
    if (own === "call") return "call";
    if (own === "session") lasting = "session";
  }
  return parse.length === 0 ? "call" : lasting;
}
