import type { ParsedCall } from "../programs/declaration/parsed-call.ts";
import { matchName } from "../files/glob.ts";
import { nameOfProgram } from "../programs/find-program.ts";
import { readName } from "../programs/program-names.ts";
import { commandsInCode, innerCommands } from "../denials/inner-commands.ts";
import type { WorkBudget } from "../limits.ts";
import { matchesWritten, matchPattern, type RuleWord, type Words } from "./command-pattern.ts";
import type { CompiledRule } from "./compile-policy.ts";
import type { JudgeContext } from "./judge-path.ts";
import { judgeByFirstRule, notUnderstoodVerdict, type Match, type Verdict } from "./evaluation.ts";

export interface CalledWords {
  readonly words: Words;
  readonly call: ParsedCall | undefined;
  readonly inner: readonly Words[];
}

export function toCalledWords(
  words: Words,
  call: ParsedCall | undefined,
  context: JudgeContext,
): CalledWords {
  const { policy, budget } = context;
  const inner = policy.hasCommandRules ? innerCommands(words, call !== undefined, budget) : [];
  return { words, call, inner };
}

export function judgeByRules(called: CalledWords, { policy, budget }: JudgeContext): Verdict | undefined {
  return judgeByFirstRule(policy, called.words[0] ?? "the command", {
    tightens: (rule) => matchTightening(rule, called, budget),
    allows: (rule) => matchAllowing(rule, called),
    unclear: () =>
      policy.policy.default === "allow"
        ? undefined
        : notUnderstoodVerdict("a rule may match words that are known only at run time", policy),
  });
}

/** Applies the user's deny and ask rules to code that a program reads from standard input. */
export function judgeCode(code: string, { policy, budget }: JudgeContext): Verdict | undefined {
  if (!policy.hasCommandRules) return undefined;
  const commands = commandsInCode(code, budget);
  return judgeByFirstRule(policy, "a command in the code", {
    tightens: (rule) => commands.some((words) => matchesRun(rule, words, budget)),
    allows: () => false,
  });
}

export function matchTightening(rule: CompiledRule, called: CalledWords, budget: WorkBudget): Match {
  const { words, call, inner } = called;
  const matches = new Set(rule.patterns.map((pattern) => matchPattern(pattern, words, call)));
  if (
    matches.has("yes") ||
    (rule.rule.kind === "regex" && textsOf(called).some((text) => rule.searches(text, budget))) ||
    inner.some((run) => matchesRun(rule, run, budget))
  )
    return "yes";
  return matches.has("maybe") ? "maybe" : "no";
}

/** Whether a rule covers a command of which only the words are known, because another program runs it. */
function matchesRun({ rule, patterns, searches }: CompiledRule, words: Words, budget: WorkBudget): boolean {
  if (rule.kind === "regex") return searches(textOf(words), budget);
  return patterns.some((pattern) => matchesWritten(pattern, words));
}

/** The texts for regular expressions: the command as it is written, and the normalised call. */
function textsOf({ words, call }: CalledWords): readonly string[] {
  const [first] = words;
  if (call === undefined || first === undefined) return [textOf(words)];
  const normalized = [readName(first).main, ...call.normalized.slice(1).map(({ text }) => text)];
  return [...new Set([textOf(words), textOf(normalized)])];
}

function textOf(words: Words): string {
  return words.map((word) => word ?? "").join(" ");
}

/**
 * Whether an allow rule covers a command, word by word as it is written. Only aliases count as their main names. A rule does not
 * cover a global option before a subcommand unless it mentions that option.
 */
export function matchAllowing({ rule, matchesWhole }: CompiledRule, { words, call }: CalledWords): boolean {
  switch (rule.kind) {
    case "prefix": {
      if (fitsPrefix(rule.argv, words)) return true;
      if (call === undefined || call.normalized.length !== words.length) return false;
      // The program as it is written: a rule for `make` does not cover `./make`, which is a file of the workspace.
      return fitsPrefix(rule.argv, [words[0], ...call.normalized.slice(1).map(({ text }) => text)]);
    }
    case "exact":
      // A rule with a folder covers only whole requests, whose folder is known.
      return (
        rule.folder === undefined &&
        words.length === rule.argv.length &&
        rule.argv.every((word, index) => word === words[index])
      );
    case "regex":
      return !words.includes(undefined) && matchesWhole(textOf(words));
    default:
      return false;
  }
}

function fitsPrefix(rule: readonly RuleWord[], words: Words): boolean {
  return rule.every((choices, index) => {
    const word = words[index];
    if (word === undefined) return false;
    const text = index === 0 ? nameOfProgram(word) : word;
    return [choices]
      .flat()
      .some((choice) => choice === text || (choice.includes("*") && matchName(choice, text)));
  });
}
