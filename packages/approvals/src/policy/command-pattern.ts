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

/** Words of a command. Undefined words are known only at run time. */
export type Words = readonly (string | undefined)[];

export interface CommandPattern extends Omit<CommandSpelling, "programs"> {
  readonly programs: readonly ProgramName[];
}

export function compilePatterns(argv: readonly RuleWord[]): readonly CommandPattern[] {
  return spellingsOf(argv.map((word) => [word].flat())).map(({ programs, ...words }) => ({
    ...words,
    programs: programs.map(readName),
  }));
}

/** Whether a command of which only the words are known has those of the rule in order, with only options in between. */
export function matchesWritten(pattern: CommandPattern, [first = "", ...words]: Words): boolean {
  const name = readName(first);
  return isCallOf(pattern, name) && hasWritten(pattern, name.main, words);
}

function isCallOf({ programs }: CommandPattern, called: ProgramName): boolean {
  return programs.some((program) => isSameProgram(program, called));
}

/**
 * Compares the words of a rule with a command as it is written, and with the normalised call: the program and its subcommands,
 * then the operands in order. The call must have the options of the rule, in any position and under any of their names.
 */
export function matchPattern(pattern: CommandPattern, words: Words, call: ParsedCall | undefined): Match {
  const [first, ...rest] = words;
  const name = readName(first ?? "");
  if (first !== undefined && !isCallOf(pattern, name)) return "no";
  if (first === undefined || call === undefined) {
    // In a command that is not understood, any word may be an operand, and options may be anywhere.
    const match = matchReading(pattern, name.main, {
      words: rest,
      has: (option) => rest.includes(undefined) || mayHoldOption(rest, option),
      maySkip: () => true,
    });
    return match === "yes" && words.includes(undefined) ? "maybe" : match;
  }
  if (hasWritten(pattern, name.main, rest)) return "yes";
  // Developer tools have options that no declaration lists.
  const hasUndeclared = call.operands.some(({ text }) => isDashed(text));
  const operands = [...call.path.slice(1), ...call.operands.map(({ text }) => text)];
  return matchReading(pattern, name.main, {
    words: operands,
    has: (option) =>
      call.hasOption(option.replace(/=.*$/, "")) ||
      rest.includes(option) ||
      (hasUndeclared && mayHoldOption(rest, option)),
    // Any two words may have an option in between, and the word after it, which may be its argument.
    maySkip: (at) => isDashed(operands[at]) || isDashed(operands[at - 1]),
  });
}

function hasWritten(pattern: CommandPattern, program: string, words: Words): boolean {
  const match = matchReading(pattern, program, {
    words,
    has: (option) => mayHoldOption(words, option),
    maySkip: (at) => TARGET_RUNNERS.has(program) || mayPrecede(program, words, at),
  });
  return match === "yes";
}

interface Reading {
  readonly words: Words;
  readonly has: (option: string) => boolean;
  /** Whether the word at an index may be between two words of the rule. */
  readonly maySkip: (at: number) => boolean;
}

function matchReading(pattern: CommandPattern, program: string, { words, has, maySkip }: Reading): Match {
  if (!hasOptions(pattern, has)) return "no";
  if (pattern.hasNoOperands) return words.every(isDashed) ? "yes" : "no";
  let match: Match = "yes";
  let at = 0;
  for (const verb of pattern.verbs) {
    for (; at < words.length && words[at] !== undefined && !fitsVerb(program, verb, words[at]); at += 1)
      if (!maySkip(at)) return "no";
    if (at >= words.length) return "no";
    if (words[at] === undefined) match = "maybe";
    at += 1;
  }
  return match;
}

/** Matches an option, the word after it (maybe its argument), a variable, a toolchain (`+nightly`) and a yarn workspace. */
function mayPrecede(program: string, words: Words, at: number): boolean {
  const [before, word = ""] = [words[at - 1], words[at]];
  if (isDashed(word) || isDashed(before) || /^(?:\w+=|\+)/.test(word)) return true;
  return program === "yarn" && (word === "workspace" || before === "workspace");
}

/** Whether a command has the options of a rule: one of each group of names, and all letters of a cluster. */
function hasOptions({ options }: CommandPattern, has: (option: string) => boolean): boolean {
  const hasLetters = (name: string): boolean =>
    /^-[A-Za-z]{2,}$/.test(name) && Array.from(name.slice(1)).every((letter) => has(`-${letter}`));
  return options.every((names) => names.some((name) => has(name) || hasLetters(name)));
}

/** Whether an option is used: `-f` also in `-rf`, and `--force` also in `--force=x` and any abbreviation. */
function mayHoldOption(words: Words, option: string): boolean {
  const isLetter = /^-[A-Za-z]$/.test(option);
  return words.some((word = "") => {
    if (word === option || word.startsWith(`${option}=`)) return true;
    if (isLetter) return /^-[A-Za-z]/.test(word) && word.includes(option.charAt(1));
    return word.length > 3 && word.startsWith("--") && option.startsWith(word.replace(/=.*$/, ""));
  });
}
