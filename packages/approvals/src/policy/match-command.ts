import type { ParsedCall } from "../programs/declaration/parsed-call.ts";
import { matchName } from "../files/glob.ts";
import { nameOfProgram } from "../programs/find-program.ts";
import type { CompiledPolicy, CompiledRule } from "./compile-policy.ts";
import { fitsVerb, readName, type ProgramName } from "../programs/program-names.ts";
import {
  isCallOf,
  isDashed,
  matchesWritten,
  mayUseOption,
  usesOption,
  type CommandPattern,
  type RuleWord,
} from "./command-pattern.ts";
import { commandsInCode, innerCommands } from "./inner-commands.ts";
import { notUnderstoodVerdict, type Verdict, ruleVerdict, judgeByFirstRule } from "./evaluation.ts";
import type { WorkBudget } from "../shell/work-budget.ts";

/** A command as rules see it. */
export interface CalledWords {
  /** Undefined words are only known at run time. */
  readonly words: readonly (string | undefined)[];
  /** The call by its declaration, if it is understood. */
  readonly call: ParsedCall | undefined;
  /** Commands that it may run itself. */
  readonly inner: readonly (readonly (string | undefined)[])[];
}

export function toCalledWords(
  words: CalledWords["words"],
  call: ParsedCall | undefined,
  { hasCommandRules }: CompiledPolicy,
  budget: WorkBudget,
): CalledWords {
  return { words, call, inner: hasCommandRules ? innerCommands(words, budget) : [] };
}

/** `maybe`: a word that is only known at run time decides. */
export type Match = "yes" | "maybe" | "no";

/** The verdict of the user's rules about one command. Undefined if no rule matches. */
export function judgeByRules(
  called: CalledWords,
  policy: CompiledPolicy,
  budget: WorkBudget,
): Verdict | undefined {
  const tightened =
    judgeTightening(policy.deny, "deny", called, policy, budget) ??
    judgeTightening(policy.ask, "ask", called, policy, budget);
  if (tightened !== undefined) return tightened;
  const allows = (rule: CompiledRule): boolean => matchAllowing(rule, called);
  const found = policy.allow.find(allows) ?? policy.additionalAllow.find(allows);
  return found === undefined ? undefined : ruleVerdict(found, "allow", called.words[0] ?? "the command");
}

/** What the user's denials and questions say about code that a program reads from standard input. */
export function judgeCode(code: string, policy: CompiledPolicy, budget: WorkBudget): Verdict | undefined {
  if (!policy.hasCommandRules) return undefined;
  const commands = commandsInCode(code, budget);
  return judgeByFirstRule(policy, "a command in the code", {
    tightens: (rule) => commands.some((words) => matchesRun(rule, words, budget)),
    allows: () => false,
  });
}

function judgeTightening(
  rules: readonly CompiledRule[],
  decision: "deny" | "ask",
  called: CalledWords,
  policy: CompiledPolicy,
  budget: WorkBudget,
): Verdict | undefined {
  let isUnclear = false;
  for (const rule of rules) {
    const match = matchTightening(rule, called, budget);
    if (match === "yes") return ruleVerdict(rule, decision, called.words[0] ?? "the command");
    if (match === "maybe") isUnclear = true;
  }
  return isUnclear && policy.policy.default !== "allow"
    ? notUnderstoodVerdict("a rule may speak for what is only known at run time", policy)
    : undefined;
}

/**
 * Whether a rule that denies or asks covers a command, or one that it runs. Its words are compared with the command as it
 * is written and with the normalised call: the program and its subcommands, then the operands in their order, whatever
 * options are between them; options of the rule must be among those of the call, in any position and under any of
 * their names.
 */
export function matchTightening(compiled: CompiledRule, called: CalledWords, budget: WorkBudget): Match {
  const match = matchCalled(compiled, called, budget);
  if (match === "yes") return match;
  return called.inner.some((words) => matchesRun(compiled, words, budget)) ? "yes" : match;
}

function matchCalled(compiled: CompiledRule, called: CalledWords, budget: WorkBudget): Match {
  if (compiled.rule.kind === "regex") return matchText(compiled, called, budget);
  const [first] = called.words;
  const name = first === undefined ? undefined : readName(first);
  let match: Match = "no";
  for (const pattern of compiled.patterns) {
    const own = matchPattern(pattern, name, called);
    if (own === "yes") return own;
    if (own === "maybe") match = own;
  }
  return match;
}

/** A command that is only known by its words, because another program runs it. */
function matchesRun(
  compiled: CompiledRule,
  words: readonly (string | undefined)[],
  budget: WorkBudget,
): boolean {
  if (compiled.rule.kind === "regex") return compiled.searches(textOf(words), budget);
  const name = readName(words[0] ?? "");
  return compiled.patterns.some((pattern) => isCallOf(pattern, name) && matchesWritten(pattern, name, words));
}

function matchText(compiled: CompiledRule, called: CalledWords, budget: WorkBudget): Match {
  const written = textOf(called.words);
  if (compiled.searches(written, budget)) return "yes";
  const { words, call } = called;
  const [first] = words;
  if (call === undefined || first === undefined) return "no";
  const normalized = [readName(first).main, ...call.normalized.slice(1).map(({ text }) => text)];
  const other = textOf(normalized);
  return other !== written && compiled.searches(other, budget) ? "yes" : "no";
}

function matchPattern(
  pattern: CommandPattern,
  name: ProgramName | undefined,
  { words, call }: CalledWords,
): Match {
  if (name === undefined) return matchLoosely(pattern, words);
  if (!isCallOf(pattern, name)) return "no";
  if (call === undefined) return matchLoosely(pattern, words);
  if (matchesWritten(pattern, name, words)) return "yes";
  if (
    pattern.hasNoOperands ||
    !pattern.options.every((choices) => choices.some((option) => usesOption(call, words, option)))
  )
    return "no";
  const operands = [...call.path.slice(1), ...call.operands.map(({ text }) => text)];
  return matchInOrder(pattern.verbs, operands, name.main);
}

/** In a command that is not understood, any word may be an operand, and options may be anywhere. */
function matchLoosely(
  { verbs, options, hasNoOperands }: CommandPattern,
  words: readonly (string | undefined)[],
): Match {
  const rest = words.slice(1);
  const program = readName(words[0] ?? "").main;
  if (hasNoOperands && rest.length > 0) return "no";
  let at = 0;
  for (const verb of verbs) {
    while (at < rest.length && !(rest[at] === undefined || fitsVerb(program, verb, rest[at]))) at += 1;
    if (at >= rest.length) return "no";
    at += 1;
  }
  const hasOptions = options.every((choices) => choices.some((option) => mayUseOption(rest, option)));
  if (!hasOptions) return "no";
  return words.includes(undefined) ? "maybe" : "yes";
}

function matchInOrder(
  verbs: CommandPattern["verbs"],
  words: readonly (string | undefined)[],
  program: string,
): Match {
  let match: Match = "yes";
  let at = 0;
  for (const verb of verbs) {
    const isFit = (text: string | undefined): boolean => text === undefined || fitsVerb(program, verb, text);
    // An option, and the next word, which may be its argument, may be between any two words.
    while (at < words.length && !isFit(words[at]) && (isDashed(words[at]) || isDashed(words[at - 1])))
      at += 1;
    if (at >= words.length || !isFit(words[at])) return "no";
    if (words[at] === undefined) match = "maybe";
    at += 1;
  }
  return match;
}

/**
 * Whether a rule that allows covers a command: word by word, as it is written. Only aliases are taken for their main
 * names; a global option before a subcommand is not covered by a rule that does not mention it.
 */
export function matchAllowing(compiled: CompiledRule, called: CalledWords): boolean {
  const { rule } = compiled;
  const { words, call } = called;
  switch (rule.kind) {
    case "prefix":
      if (fitsPrefix(rule.argv, words)) return true;
      return (
        call !== undefined &&
        call.normalized.length === words.length &&
        // The program as it is written: a rule for `make` does not cover `./make`, which is a file of the workspace.
        fitsPrefix(rule.argv, [words[0], ...call.normalized.slice(1).map(({ text }) => text)])
      );
    case "exact":
      // A rule with a folder only covers whole requests, whose folder is known.
      return (
        rule.folder === undefined &&
        words.length === rule.argv.length &&
        rule.argv.every((word, index) => word === words[index])
      );
    case "regex":
      return !words.includes(undefined) && compiled.matchesWhole(textOf(called.words));
    default:
      return false;
  }
}

function fits(rule: RuleWord, text: string): boolean {
  return [rule].flat().some((word) => (word.includes("*") ? matchName(word, text) : word === text));
}

function fitsPrefix(rule: readonly RuleWord[], words: readonly (string | undefined)[]): boolean {
  return (
    words.length >= rule.length &&
    rule.every((word, index) => {
      const text = words[index];
      return text !== undefined && fits(word, index === 0 ? nameOfProgram(text) : text);
    })
  );
}

function textOf(words: CalledWords["words"]): string {
  return words.map((word) => word ?? "").join(" ");
}
