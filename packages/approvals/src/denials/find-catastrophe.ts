import { baseName } from "../files/path.ts";
import { LIMITS } from "../limits.ts";
import {
  findCatastrophe,
  findProtectedWrite,
  isCheckedProgram,
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
import { findCatastrophicText, findFlow, RUNS_DOWNLOAD } from "../programs/catastrophic-flows.ts";
import type { FoundCommands } from "./find-commands.ts";

type Words = readonly string[];
export type DenialContext = Pick<DeniableCall, "home" | "folder">;

/** A function that defines itself through a pipe to itself, in the background. */
const FORK_BOMB = /(?<!\w)(\w{1,32}|:)\s{0,8}\(\s{0,8}\)\s{0,8}\{[^}]{0,80}\1\s{0,8}\|\s{0,8}\1\s{0,8}&/;

/** A catastrophic command among those that are known to run. */
export function findCalledCatastrophe(calls: readonly Words[], context: DenialContext): Denial | undefined {
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
export function findHiddenCatastrophe(
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
  const starts = (word: string): boolean => {
    const name = baseName(word);
    return (isRunner || DANGEROUS_BY_ARGUMENTS.has(name)) && (isCheckedProgram(name) || SENDERS.has(name));
  };
  return words.flatMap((word, index) => (index === 0 || starts(word) ? [words.slice(index)] : []));
}

function writtenBy([first = "", ...args]: Words): Words {
  const name = baseName(first);
  const operands = args.filter((arg) => !arg.startsWith("-"));
  return WRITES_ALL.has(name) ? operands : WRITES_LAST.has(name) ? operands.slice(-1) : [];
}
