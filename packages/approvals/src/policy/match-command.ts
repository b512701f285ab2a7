import type { ParsedCall } from "../programs/declaration/parsed-call.ts";
import { matchName } from "../files/glob.ts";
import { baseName } from "../files/path.ts";
import type { CompiledPolicy, CompiledRule, RuleWord } from "./compile-policy.ts";
import { notUnderstoodVerdict, type Verdict } from "./evaluation.ts";
import { ruleVerdict } from "./judge-path.ts";

/** A command as rules see it. */
export interface CalledWords {
  /** Undefined words are only known at run time. */
  readonly words: readonly (string | undefined)[];
  /** The call by its declaration, if it is understood. */
  readonly call: ParsedCall | undefined;
}

/** `maybe`: a word that is only known at run time decides. */
export type Match = "yes" | "maybe" | "no";

/** The word of the user's rules about one command: a denial, a question, a permission, or nothing. */
export function judgeByRules(called: CalledWords, policy: CompiledPolicy): Verdict | undefined {
  const tightened =
    judgeTightening(policy.deny, "deny", called, policy) ??
    judgeTightening(policy.ask, "ask", called, policy);
  if (tightened !== undefined) return tightened;
  const allows = (rule: CompiledRule): boolean => matchAllowing(rule, called);
  const found = policy.allow.find(allows) ?? policy.alsoAllow.find(allows);
  return found === undefined ? undefined : ruleVerdict(found, "allow", called.words[0] ?? "the command");
}

function judgeTightening(
  rules: readonly CompiledRule[],
  decision: "deny" | "ask",
  called: CalledWords,
  policy: CompiledPolicy,
): Verdict | undefined {
  let isUnclear = false;
  for (const rule of rules) {
    const match = matchTightening(rule, called);
    if (match === "yes") return ruleVerdict(rule, decision, called.words[0] ?? "the command");
    if (match === "maybe") isUnclear = true;
  }
  return isUnclear && policy.policy.default !== "allow"
    ? notUnderstoodVerdict("a rule may speak for what is only known at run time", policy)
    : undefined;
}

/**
 * Whether a rule that denies or asks covers a command. Its words are compared with the normalised call: the program and
 * its subcommands, then the operands in their order, whatever options stand between them; options of the rule must be
 * among those of the call, in any position and under any of their names.
 */
export function matchTightening(compiled: CompiledRule, called: CalledWords): Match {
  const { rule } = compiled;
  switch (rule.kind) {
    case "prefix":
    case "exact":
      return matchWords(compiled, called);
    case "regex":
      return compiled.searches(textOf(called)) ? "yes" : "no";
    default:
      return "no";
  }
}

function matchWords({ positions, options }: CompiledRule, { words, call }: CalledWords): Match {
  if (call !== undefined) {
    const operands = [...call.path, ...call.operands.map(({ text }) => text)];
    const hasOptions = options.every((word) =>
      [word].flat().some((text) => call.hasOption(optionName(text)) || words.includes(text)),
    );
    if (!hasOptions) return "no";
    return matchInOrder(positions, operands.map(mainName(call.path[0] ?? "")));
  }
  // Not understood: any of its words may be an operand, so options may stand anywhere.
  const [name, ...rest] = words;
  const [program, ...others] = positions;
  if (program === undefined) return "no";
  if (name !== undefined && !fits(program, baseName(name))) return "no";
  let at = 0;
  for (const word of others) {
    while (at < rest.length && !(rest[at] === undefined || fits(word, rest[at] ?? ""))) at += 1;
    if (at >= rest.length) return "no";
    at += 1;
  }
  const hasOptions = options.every((word) =>
    rest.some((text) => text === undefined || [word].flat().some((option) => mayHoldOption(text, option))),
  );
  if (!hasOptions) return "no";
  return words.includes(undefined) ? "maybe" : "yes";
}

function matchInOrder(rule: readonly RuleWord[], words: readonly (string | undefined)[]): Match {
  let match: Match = "yes";
  let at = 0;
  for (const [index, word] of rule.entries()) {
    const isFit = (text: string | undefined): boolean =>
      text === undefined || fits(word, index === 0 ? baseName(text) : text);
    // An option, and the word behind it that may be its argument, can stand between any two words.
    while (at < words.length && !isFit(words[at]) && (isDashed(words[at]) || isDashed(words[at - 1])))
      at += 1;
    if (at >= words.length || !isFit(words[at])) return "no";
    if (words[at] === undefined) match = "maybe";
    at += 1;
  }
  return match;
}

function isDashed(text: string | undefined): boolean {
  return text?.startsWith("-") === true;
}

/** Other names of verbs of package managers, whose declarations have no subcommands. */
const VERB_ALIASES: Readonly<Record<string, string>> = {
  add: "install",
  i: "install",
  "run-script": "run",
  rum: "run",
  t: "test",
  tst: "test",
  urn: "run",
  x: "exec",
};

function mainName(program: string): (text: string | undefined) => string | undefined {
  if (!/^(?:npm|pnpm|yarn|bun)$/.test(program)) return (text) => text;
  return (text) => (text !== undefined && Object.hasOwn(VERB_ALIASES, text) ? VERB_ALIASES[text] : text);
}

function fits(rule: RuleWord, text: string): boolean {
  return [rule].flat().some((word) => (word.includes("*") ? matchName(word, text) : word === text));
}

/** `-f` in `-rf`, `--force` in `--force=x` and in any abbreviation that could stand for it. */
function mayHoldOption(text: string, option: string): boolean {
  if (text === option || text.startsWith(`${option}=`)) return true;
  if (/^-[A-Za-z]$/.test(option)) return /^-[A-Za-z]/.test(text) && text.includes(option.charAt(1));
  return text.length > 3 && text.startsWith("--") && option.startsWith(text.replace(/=.*$/, ""));
}

function optionName(text: string): string {
  return text.replace(/=.*$/, "");
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
        fitsPrefix(
          rule.argv,
          call.normalized.map(({ text }) => text),
        )
      );
    case "exact":
      return words.length === rule.argv.length && rule.argv.every((word, index) => word === words[index]);
    case "regex":
      return !words.includes(undefined) && compiled.matchesWhole(textOf(called));
    default:
      return false;
  }
}

function fitsPrefix(rule: readonly RuleWord[], words: readonly (string | undefined)[]): boolean {
  return (
    words.length >= rule.length &&
    rule.every((word, index) => {
      const text = words[index];
      return text !== undefined && fits(word, index === 0 ? systemName(text) : text);
    })
  );
}

/** `/usr/bin/git` is git; `./git` is not. */
function systemName(text: string): string {
  return /^\/(?:usr\/(?:local\/)?)?s?bin\/([^/]+)$/.exec(text)?.[1] ?? text;
}

function textOf({ words }: CalledWords): string {
  return words.map((word) => word ?? "").join(" ");
}
