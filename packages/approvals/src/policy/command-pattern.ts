import type { ParsedCall } from "../programs/declaration/parsed-call.ts";
import { matchName } from "../files/glob.ts";
import {
  IMPLICATIONS,
  isAbbreviation,
  isSameVersion,
  mainVerb,
  readName,
  REWRITINGS,
  TARGET_RUNNERS,
  type ProgramName,
} from "../programs/program-names.ts";

export type RuleWord = string | readonly string[];

/** The words of a rule that denies or asks, in one of the ways in which its command can be written. */
export interface CommandPattern {
  readonly programs: readonly ProgramName[];
  readonly verbs: readonly (readonly string[])[];
  /** A cluster matches if all of its options are used: `-rf` is `-r` and `-f`. */
  readonly options: readonly (readonly string[])[];
  /** Set if the command has nothing but options behind its name: `yarn` installs. */
  readonly hasNoOperands: boolean;
}

/** Makes the words of a rule ready, once per policy. */
export function compilePatterns(argv: readonly RuleWord[]): readonly CommandPattern[] {
  const words = argv.map((word) => [word].flat());
  const [programs = [], ...rest] = words;
  const isOption = (choices: readonly string[]): boolean => choices.every(isDashed);
  const verbs = rest.filter((choices) => !isOption(choices));
  const options = rest.filter(isOption);
  const spellings = rewrite([programs, ...verbs]);
  const patterns = spellings.map(([names = [], ...others]) => toPattern(names, others, options));
  if (spellings.some(([names = [], ...others]) => names.includes("yarn") && isWord(others, "install")))
    patterns.push({ ...toPattern(["yarn"], [], options), hasNoOperands: true });
  if (isWord(verbs, "branch") && programs.includes("git") && options.some((names) => names.includes("-D")))
    for (const forced of [
      ["-d", "-f"],
      ["--delete", "--force"],
    ])
      patterns.push(
        toPattern(
          programs,
          verbs,
          forced.map((name) => [name]),
        ),
      );
  return patterns;
}

function isWord([first, ...others]: readonly (readonly string[])[], text: string): boolean {
  return first?.includes(text) === true && others.length === 0;
}

type Spelling = readonly (readonly string[])[];

function rewrite(words: Spelling): readonly Spelling[] {
  const all: Spelling[] = [words];
  const add = (from: readonly string[], to: readonly string[]): void => {
    if (!from.every((word, index) => words[index]?.some((choice) => isChoice(from, index, word, choice))))
      return;
    // `yarn run` alone is not every call of yarn.
    if (words.length === from.length && to.length === 1 && from.length === 2 && to[0] === from[0]) return;
    all.push([...to.map((word) => [word]), ...words.slice(from.length)]);
  };
  for (const [from, to] of REWRITINGS) {
    add(from, to);
    if (to.length > 1 || to[0] !== from[0]) add(to, from);
  }
  for (const [from, to] of IMPLICATIONS) add(from, to);
  return all;
}

function isChoice(from: readonly string[], index: number, word: string, choice: string): boolean {
  return choice === word || (index > 0 && mainVerb(from[0] ?? "", choice) === word);
}

function toPattern(
  programs: readonly string[],
  verbs: Spelling,
  options: readonly (readonly string[])[],
): CommandPattern {
  return { programs: programs.map(readName), verbs, options, hasNoOperands: false };
}

/** Whether a command is a call of the program that a pattern names. */
export function isCallOf({ programs }: CommandPattern, called: ProgramName): boolean {
  return programs.some((program) => isSameProgram(program, called));
}

function isSameProgram(rule: ProgramName, called: ProgramName): boolean {
  const { text } = rule;
  if (text === called.text || text === called.base) return true;
  if (text.includes("*")) return matchName(text, called.base) || matchName(text, called.text);
  if (text.includes("/") && !/^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$/.test(text)) {
    const path = text.replace(/^\.\//, "");
    return called.text === path || called.text.endsWith(`/${path}`);
  }
  return rule.main === called.main && isSameVersion(rule.version, called.version);
}

/** Whether a command has the words of the rule in this order, with nothing but options and their arguments between them. */
export function matchesWritten(
  pattern: CommandPattern,
  called: ProgramName,
  words: readonly (string | undefined)[],
): boolean {
  const program = called.main;
  const takesTargets = TARGET_RUNNERS.has(program);
  if (pattern.hasNoOperands) {
    if (!words.every((word, index) => index === 0 || isDashed(word))) return false;
  } else {
    let at = 1;
    for (const verb of pattern.verbs) {
      while (at < words.length && !fitsVerb(program, verb, words[at])) {
        if (!takesTargets && !mayPrecede(program, words, at)) return false;
        at += 1;
      }
      if (at >= words.length) return false;
      at += 1;
    }
  }
  return pattern.options.every((choices) => choices.some((option) => holdsOption(words, option)));
}

/** An option, the word behind it that may be its argument, a variable, a toolchain (`+nightly`), a workspace of yarn. */
function mayPrecede(program: string, words: readonly (string | undefined)[], at: number): boolean {
  const word = words[at];
  if (isDashed(word) || (at > 1 && isDashed(words[at - 1]))) return true;
  if (word === undefined) return false;
  return (
    /^(?:\w+=|\+)/.test(word) ||
    (program === "yarn" && (word === "workspace" || words[at - 1] === "workspace"))
  );
}

export function fitsVerb(program: string, verb: readonly string[], text: string | undefined): boolean {
  if (text === undefined) return false;
  const main = mainVerb(program, text);
  return verb.some((choice) => {
    if (choice === text) return true;
    if (choice.includes("*")) return matchName(choice, text);
    const wanted = mainVerb(program, choice);
    return wanted === main || isAbbreviation(program, text, wanted);
  });
}

export function isDashed(text: string | undefined): boolean {
  return text?.startsWith("-") === true;
}

/** Whether a command that is not understood may use an option, for all that is known before it runs. */
export function mayUseOption(words: readonly (string | undefined)[], option: string): boolean {
  return words.includes(undefined) || holdsOption(["", ...words], option);
}

function holdsOption(words: readonly (string | undefined)[], option: string): boolean {
  const holds = (name: string): boolean =>
    words.some((word, index) => index > 0 && word !== undefined && mayHoldOption(word, name));
  return holds(option) || (CLUSTER.test(option) && lettersOf(option).every(holds));
}

/** Whether a call that is understood uses an option of a rule. */
export function usesOption(
  { hasOption, operands }: ParsedCall,
  words: readonly (string | undefined)[],
  option: string,
): boolean {
  const name = option.replace(/=.*$/, "");
  if (hasOption(name) || words.includes(option)) return true;
  if (CLUSTER.test(option) && lettersOf(option).every(hasOption)) return true;
  // Tools of developers have options that no declaration knows.
  return operands.some(({ text }) => isDashed(text)) && holdsOption(words, option);
}

const CLUSTER = /^-[A-Za-z]{2,}$/;

function lettersOf(cluster: string): readonly string[] {
  return cluster
    .slice(1)
    .split("")
    .map((letter) => `-${letter}`);
}

/** `-f` in `-rf`, `--force` in `--force=x` and in any possible abbreviation. */
function mayHoldOption(text: string, option: string): boolean {
  if (text === option || text.startsWith(`${option}=`)) return true;
  if (/^-[A-Za-z]$/.test(option)) return /^-[A-Za-z]/.test(text) && text.includes(option.charAt(1));
  return text.length > 3 && text.startsWith("--") && option.startsWith(text.replace(/=.*$/, ""));
}
