import { baseName } from "../files/path.ts";
import {
  findCatastrophe,
  findProtectedWrite,
  type DenialContext,
  type Denial,
} from "../programs/catastrophic.ts";
import { possibleCalls, PRINTERS, writtenBy } from "../programs/known-by-name.ts";
import { findCommands, type FoundCommands } from "../denials/find-commands.ts";
import { LIMITS } from "../limits.ts";
import {
  findCatastrophicText,
  findFlow,
  findForkBomb,
  RUNS_DOWNLOAD,
} from "../programs/catastrophic-flows.ts";
import { runsCode } from "../programs/declaration/effect.ts";
import type { PlainScript } from "../shell/plain-script.ts";
import type { CommandJudge } from "./judge-commands.ts";
import { cautionVerdict, judgeByFirstRule, refusal, type Verdict } from "./evaluation.ts";
import type { JudgeContext } from "./judge-path.ts";
import { matchTightening, toCalledWords } from "./match-command.ts";

/**
 * The second layer: catastrophic commands, and the user's deny and ask rules. It never allows anything, and does not depend on
 * how the effects of a command are judged.
 */
export function findDenial(
  source: string,
  script: PlainScript,
  { calls, denied, hasUnknown, verdicts }: CommandJudge,
  context: JudgeContext,
): Verdict | undefined {
  const { workspace, policy, budget } = context;
  const place = { home: workspace.home, folder: workspace.cwd };
  const called = calls.map(({ words }) => words.map((word) => word ?? ""));
  const catastrophe = findCatastrophe(called, place);
  if (catastrophe !== undefined) return refusal(catastrophe.rule, catastrophe.reason);
  if (denied !== undefined) return denied;
  const isUnderstood =
    script.problem === undefined && !hasUnknown && !verdicts.some(({ rule }) => rule === "not-understood");
  const found = isUnderstood ? undefined : findCommands(script.syntax, policy.hasCommandRules);
  const ruled = policy.hasCommandRules ? judgeByUser(source, found, context) : undefined;
  if (ruled?.decision === "deny") return ruled;
  // Code in arguments, in here-documents and in files that the script writes may be in another language, so only its words can be
  // examined. The same applies to code in a container, which may have folders of the host.
  const hasCode = calls.some(({ call }) => call !== undefined && runsCode(call.effects));
  const hidden =
    findFlow(source, called) ??
    (hasCode ? findCatastrophicText(source.slice(0, LIMITS.regexChars)) : undefined) ??
    (found === undefined ? undefined : findHiddenCatastrophe(source, found, place));
  if (hidden !== undefined) return refusal(hidden.rule, hidden.reason);
  const isComplete = found?.isComplete !== false && !budget.hasExceeded("searchedChars", "codeChars");
  return ruled === undefined && !isComplete
    ? cautionVerdict("too-much-text", "it has too much text to search it for denied commands", policy)
    : ruled;
}

/** Applies the user's deny and ask rules to the text of a script, and to the commands that were found in it. */
function judgeByUser(
  source: string,
  found: FoundCommands | undefined,
  context: JudgeContext,
): Verdict | undefined {
  const { policy, budget } = context;
  const commands = (found?.commands ?? []).map(({ words }) => toCalledWords(words, undefined, context));
  return judgeByFirstRule(policy, "a command in the script", {
    tightens: (rule) =>
      // Regular expressions and exact scripts are also matched against the original text.
      (rule.rule.kind === "script" && rule.rule.text === source) ||
      rule.searches(source, budget) ||
      commands.some((command) => matchTightening(rule, command, budget) === "yes"),
    allows: () => false,
  });
}

/** Finds a catastrophic command anywhere in a script. Errs towards denying: the name of a dangerous program counts as a call. */
function findHiddenCatastrophe(
  source: string,
  { commands, outputs, runsDownload }: FoundCommands,
  context: DenialContext,
): Denial | undefined {
  const calls = commands.flatMap(({ words, isGuess }) => (isGuess ? [] : possibleCalls(words)));
  const isCode = calls.some(([name = ""]) => !PRINTERS.has(baseName(name)));
  return (
    findForkBomb(source) ??
    (runsDownload ? RUNS_DOWNLOAD : undefined) ??
    findCatastrophe(calls, context) ??
    findProtectedWrite([...calls.flatMap(writtenBy), ...outputs], context) ??
    findFlow(source, calls) ??
    (isCode ? findCatastrophicText(source) : undefined)
  );
}
