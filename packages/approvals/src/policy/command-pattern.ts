import { isDashed } from "../programs/declaration/word.ts";
import type { ParsedCall } from "../programs/declaration/parsed-call.ts";
import { spellingsOf, type CommandSpelling } from "../programs/command-spellings.ts";
import {
  fitsVerb,
  isSameProgram,
  readName,
  TARGET_RUNNERS,
  type ProgramName,
} from "../programs/program-names.ts";
import type { Match } from "./evaluation.ts";

export type RuleWord = string | readonly string[];

/** Words of a command. Undefined words are only known at run time. */
export type Words = readonly (string | undefined)[];

/** One spelling of the command that a rule denies or asks about. */
export interface CommandPattern extends Omit<CommandSpelling, "programs"> {
  readonly programs: readonly ProgramName[];
}

/** Compiles the words of a rule, once per policy. */
export function compilePatterns(argv: readonly RuleWord[]): readonly CommandPattern[] {
  return spellingsOf(argv.map((word) => [word].flat())).map(({ programs, ...words }) => ({
    ...words,
    programs: programs.map(readName),
  }));
}

/** Whether a command is a call of the program that a pattern names. */
function isCallOf({ programs }: CommandPattern, called: ProgramName): boolean {
  return programs.some((program) => isSameProgram(program, called));
}

/** Whether a command that is only known by its words has those of the rule in this order, with nothing but options between them. */
export function matchesWritten(pattern: CommandPattern, words: Words): boolean {
  const name = readName(words[0] ?? "");
  return isCallOf(pattern, name) && hasWritten(pattern, name.main, words.slice(1));
}

/**
 * Compares the words of a rule with a command as it is written, and with the normalised call: the program and its
 * subcommands, then the operands in their order. Options of the rule must be among those of the call, in any position
 * and under any of their names.
 */
export function matchPattern(pattern: CommandPattern, words: Words, call: ParsedCall | undefined): Match {
  const [first, ...rest] = words;
  const name = readName(first ?? "");
  if (first !== undefined && !isCallOf(pattern, name)) return "no";
  if (first === undefined || call === undefined) return matchLoosely(pattern, name.main, words);
  if (hasWritten(pattern, name.main, rest)) return "yes";
  // Tools of developers have options that no declaration knows.
  const hasUndeclared = call.operands.some(({ text }) => isDashed(text));
  const usesOption = (option: string): boolean =>
    call.hasOption(option.replace(/=.*$/, "")) ||
    rest.includes(option) ||
    (hasUndeclared && mayHoldOption(rest, option));
  if (pattern.hasNoOperands || !hasOptions(pattern, usesOption)) return "no";
  const operands = [...call.path.slice(1), ...call.operands.map(({ text }) => text)];
  return matchVerbs(pattern.verbs, operands, {
    fits: (verb, text) => text === undefined || fitsVerb(name.main, verb, text),
    // An option, and the next word, which may be its argument, may be between any two words.
    maySkip: (at) => isDashed(operands[at]) || isDashed(operands[at - 1]),
  });
}

function hasWritten(pattern: CommandPattern, program: string, words: Words): boolean {
  if (!hasOptions(pattern, (option) => mayHoldOption(words, option))) return false;
  if (pattern.hasNoOperands) return words.every(isDashed);
  const match = matchVerbs(pattern.verbs, words, {
    fits: (verb, text) => fitsVerb(program, verb, text),
    maySkip: (at) => TARGET_RUNNERS.has(program) || mayPrecede(program, words, at),
  });
  return match === "yes";
}

/** In a command that is not understood, any word may be an operand, and options may be anywhere. */
function matchLoosely(pattern: CommandPattern, program: string, words: Words): Match {
  const rest = words.slice(1);
  const isUnclear = words.includes(undefined);
  if (pattern.hasNoOperands && rest.length > 0) return "no";
  if (!hasOptions(pattern, (option) => rest.includes(undefined) || mayHoldOption(rest, option))) return "no";
  const match = matchVerbs(pattern.verbs, rest, {
    fits: (verb, text) => text === undefined || fitsVerb(program, verb, text),
    maySkip: () => true,
  });
  return match === "yes" && isUnclear ? "maybe" : match;
}

interface VerbMatchers {
  readonly fits: (verb: readonly string[], text: string | undefined) => boolean;
  /** Whether the word at an index may be between two words of the rule. */
  readonly maySkip: (at: number) => boolean;
}

function matchVerbs(verbs: CommandPattern["verbs"], words: Words, { fits, maySkip }: VerbMatchers): Match {
  let match: Match = "yes";
  let at = 0;
  for (const verb of verbs) {
    while (at < words.length && !fits(verb, words[at])) {
      if (!maySkip(at)) return "no";
      at += 1;
    }
    if (at >= words.length) return "no";
    if (words[at] === undefined) match = "maybe";
    at += 1;
  }
  return match;
}

/** An option, the word behind it that may be its argument, a variable, a toolchain (`+nightly`), a workspace of yarn. */
function mayPrecede(program: string, words: Words, at: number): boolean {
  const word = words[at];
  if (isDashed(word) || isDashed(words[at - 1])) return true;
  return (
    word !== undefined &&
    (/^(?:\w+=|\+)/.test(word) ||
      (program === "yarn" && (word === "workspace" || words[at - 1] === "workspace")))
  );
}

/** Whether a command has the options of a rule: one of each group of names, and all letters of a cluster. */
function hasOptions({ options }: CommandPattern, has: (option: string) => boolean): boolean {
  const letters = (cluster: string): readonly string[] =>
    Array.from(cluster.slice(1), (letter) => `-${letter}`);
  return options.every((names) =>
    names.some((name) => has(name) || (/^-[A-Za-z]{2,}$/.test(name) && letters(name).every(has))),
  );
}

/** `-f` in `-rf`, `--force` in `--force=x` and in any possible abbreviation. */
function mayHoldOption(words: Words, option: string): boolean {
  const isLetter = /^-[A-Za-z]$/.test(option);
  return words.some((word) => {
    if (word === undefined) return false;
    if (word === option || word.startsWith(`${option}=`)) return true;
    if (isLetter) return /^-[A-Za-z]/.test(word) && word.includes(option.charAt(1));
    return word.length > 3 && word.startsWith("--") && option.startsWith(word.replace(/=.*$/, ""));
  });
}
