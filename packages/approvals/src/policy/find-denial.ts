import { findCalledCatastrophe, findHiddenCatastrophe } from "../denials/find-catastrophe.ts";
import { findCommands, type FoundCommands } from "../denials/find-commands.ts";
import { LIMITS } from "../limits.ts";
import { findCatastrophicText, findFlow } from "../programs/catastrophic-flows.ts";
import type { Denial } from "../programs/catastrophic.ts";
import { mayRunArguments } from "../programs/known-by-name.ts";
import type { PlainScript } from "../shell/plain-script.ts";
import type { WorkBudget } from "../shell/work-budget.ts";
import { matchesWritten } from "./command-pattern.ts";
import type { CompiledRule } from "./compile-policy.ts";
import type { CommandJudge } from "./judge-commands.ts";
import { cautionVerdict, judgeByFirstRule, refusal, type Verdict } from "./evaluation.ts";
import type { JudgeContext } from "./judge-path.ts";
import { matchTightening, toCalledWords, type CalledWords } from "./match-command.ts";

const NOTHING_SEARCHED: FoundCommands = { commands: [], outputs: [], runsDownload: false, isComplete: false };

/**
 * The second layer: catastrophic commands, and the user's denials and questions. It never allows anything and does not
 * depend on what the effects of a command are judged to be.
 */
export function findDenial(
  source: string,
  script: PlainScript,
  { calls, denied, verdicts }: CommandJudge,
  context: JudgeContext,
): Verdict | undefined {
  const { workspace, policy, budget } = context;
  const place = { home: workspace.home, folder: workspace.cwd };
  const called = calls.map(({ words }) => (words.every(isKnown) ? words : words.map((word) => word ?? "")));
  const catastrophe = findCalledCatastrophe(called, place);
  if (catastrophe !== undefined) return refusal(catastrophe.rule, catastrophe.reason);
  if (denied !== undefined) return denied;
  const isUnderstood =
    script.problem === undefined && !verdicts.some(({ rule }) => rule === "not-understood");
  const search = (): FoundCommands =>
    script.syntax === undefined ? NOTHING_SEARCHED : findCommands(script.syntax, policy.hasCommandRules);
  const found = isUnderstood ? undefined : search();
  const ruled = policy.hasCommandRules ? judgeByUser(source, found, context) : undefined;
  if (ruled?.decision === "deny") return ruled;
  const hidden =
    findFlow(source, called) ??
    findInlineCode(source, calls) ??
    (found === undefined ? undefined : findHiddenCatastrophe(source, found, place));
  if (hidden !== undefined) return refusal(hidden.rule, hidden.reason);
  const isComplete = found?.isComplete !== false && !budget.hasExceeded("searchedChars", "codeChars");
  return ruled === undefined && !isComplete
    ? cautionVerdict("too-much-text", "there is too much in it to look for what is denied", policy)
    : ruled;
}

function isKnown(word: string | undefined): word is string {
  return word !== undefined;
}

/**
 * Code in arguments, in here-documents and in files that the script writes may be in another language: only its words can
 * be looked at. The same holds for what runs in a container, which may have folders of the host.
 */
function findInlineCode(source: string, calls: readonly CalledWords[]): Denial | undefined {
  const runsCode = calls.some(({ call }) =>
    call?.effects.some((effect) =>
      /^(?:execute|inline-code|stdin-code|project-code|install|container)$/.test(
        effect.kind === "action" ? effect.action : effect.kind,
      ),
    ),
  );
  return runsCode ? findCatastrophicText(source.slice(0, LIMITS.regexChars)) : undefined;
}

/**
 * What the user's denials and questions say about the text of a script, and about every command that can be found in one
 * that is not understood.
 */
function judgeByUser(
  source: string,
  found: FoundCommands | undefined,
  context: JudgeContext,
): Verdict | undefined {
  const { policy, budget } = context;
  const commands = (found?.commands ?? []).map(({ words }) => toCalledWords(words, undefined, context));
  return judgeByFirstRule(policy, "a command in the script", {
    tightens: (rule) =>
      // A regular expression and an exact script also see the text as it arrived.
      (rule.rule.kind === "script" && rule.rule.text === source) ||
      rule.searches(source, budget) ||
      commands.some((command) => matchesAnywhere(rule, command, budget)),
    allows: () => false,
  });
}

/** Behind a program that runs its arguments, any word may be the name of a program: `env -i git push`. */
function matchesAnywhere(rule: CompiledRule, called: CalledWords, budget: WorkBudget): boolean {
  if (matchTightening(rule, called, budget) === "yes") return true;
  const { words } = called;
  return (
    mayRunArguments(words) &&
    words.some((_, at) => at > 0 && rule.patterns.some((pattern) => matchesWritten(pattern, words.slice(at))))
  );
}
