import type { ParsedCall } from "../programs/declaration/parsed-call.ts";
import { spellingsOf, type CommandSpelling } from "../programs/command-spellings.ts";
import {
  fitsVerb,
  isSameProgram,
  readName,
  TARGET_RUNNERS,
  type ProgramName,
} from "../programs/program-names.ts";

export type RuleWord = string | readonly string[];

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
export function isCallOf({ programs }: CommandPattern, called: ProgramName): boolean {
  return programs.some((program) => isSameProgram(program, called));
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
