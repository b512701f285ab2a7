import { baseName } from "../files/path.ts";
import {
  findProtectedWrite,
  isCheckedProgram,
  findCatastrophe,
  type DeniableCall,
  type Denial,
} from "../programs/catastrophic.ts";
import {
  DANGEROUS_BY_ARGUMENTS,
  PRINTERS,
  runsArguments,
  SENDERS,
  WRITES_ALL,
  WRITES_LAST,
} from "../programs/known-by-name.ts";
import { findCommands, type FoundCommands } from "../denials/find-commands.ts";
import { LIMITS } from "../limits.ts";
import { findCatastrophicText, findFlow, RUNS_DOWNLOAD } from "../programs/catastrophic-flows.ts";
import type { PlainScript } from "../shell/plain-script.ts";
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
  { calls, denied, hasUnknown, verdicts }: CommandJudge,
  context: JudgeContext,
): Verdict | undefined {
  const { workspace, policy, budget } = context;
  const place = { home: workspace.home, folder: workspace.cwd };
  const called = calls.map(({ words }) => (words.every(isKnown) ? words : words.map((word) => word ?? "")));
  const catastrophe = findCalledCatastrophe(called, place);
  if (catastrophe !== undefined) return refusal(catastrophe.rule, catastrophe.reason);
  if (denied !== undefined) return denied;
  const search = (): FoundCommands =>
    script.syntax === undefined ? NOTHING_SEARCHED : findCommands(script.syntax, policy.hasCommandRules);
  const isUnderstood =
    script.problem === undefined && !hasUnknown && !verdicts.some(({ rule }) => rule === "not-understood");
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
      commands.some((command) => matchTightening(rule, command, budget) === "yes"),
    allows: () => false,
  });
}

type Words = readonly string[];
type DenialContext = Pick<DeniableCall, "home" | "folder">;

/** A function that defines itself through a pipe to itself, in the background. */
const FORK_BOMB = /(?<!\w)(\w{1,32}|:)\s{0,8}\(\s{0,8}\)\s{0,8}\{[^}]{0,80}\1\s{0,8}\|\s{0,8}\1\s{0,8}&/;

function findCalledCatastrophe(calls: readonly Words[], context: DenialContext): Denial | undefined {
  return findFirst(calls, ([first = "", ...args]) => {
    const name = baseName(first);
    return isCheckedProgram(name) ? findCatastrophe({ name, args, ...context }) : undefined;
  });
}

function findFirst<T>(items: readonly T[], find: (item: T) => Denial | undefined): Denial | undefined {
  for (const item of items) {
    const denial = find(item);
    if (denial !== undefined) return denial;
  }
  return undefined;
}

/**
 * A catastrophic command anywhere in a script that is not understood. Guesses towards denying: a word that names a
 * dangerous program counts as a call of it.
 */
function findHiddenCatastrophe(
  source: string,
  { commands, outputs, runsDownload }: FoundCommands,
  context: DenialContext,
): Denial | undefined {
  if (source.includes("{") && FORK_BOMB.test(source.slice(0, LIMITS.syntaxChars)))
    return { rule: "fork-bomb", reason: "starts processes without end" };
  if (runsDownload) return RUNS_DOWNLOAD;
  const calls = commands.flatMap(({ words, isGuess }) => (isGuess ? [] : possibleCalls(words)));
  const isCode = calls.some(([name = ""]) => !PRINTERS.has(baseName(name)));
  return (
    findCalledCatastrophe(calls, context) ??
    findFirst([...calls.flatMap(writtenBy), ...outputs], (target) => findProtectedWrite(target, context)) ??
    findFlow(source, calls) ??
    (isCode ? findCatastrophicText(source) : undefined)
  );
}

/** Every word that names a checked program may be where a command starts: `env -i rm -rf /`. */
function possibleCalls(words: Words): readonly Words[] {
  const [first = ""] = words;
  if (PRINTERS.has(baseName(first))) return [words];
  // The bare name of a program is enough only behind a program that runs its arguments: `pytest -k sudo` is harmless.
  const isRunner = runsArguments(first) || !/^[\w.+-]+$/.test(first);
  return words.flatMap((word, index) => {
    const name = baseName(word);
    const isNamed = isCheckedProgram(name) || SENDERS.has(name);
    const starts = index === 0 || (isNamed && (isRunner || DANGEROUS_BY_ARGUMENTS.has(name)));
    return starts ? [words.slice(index)] : [];
  });
}

function writtenBy([first = "", ...args]: Words): Words {
  const name = baseName(first);
  const operands = args.filter((arg) => !arg.startsWith("-"));
  return WRITES_ALL.has(name) ? operands : WRITES_LAST.has(name) ? operands.slice(-1) : [];
}
