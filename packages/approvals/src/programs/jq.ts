import { declareProgram } from "./declaration/declaration.ts";
import type { Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import type { Word } from "./declaration/word.ts";

const FLAGS = new Set([
  "--ascii-output",
  "--color-output",
  "--compact-output",
  "--exit-status",
  "--help",
  "--join-output",
  "--monochrome-output",
  "--null-input",
  "--raw-input",
  "--raw-output",
  "--raw-output0",
  "--seq",
  "--slurp",
  "--sort-keys",
  "--stream",
  "--tab",
  "--unbuffered",
  "--version",
]);

/** How many arguments follow, and whether the last of them is a file. */
const WITH_ARGUMENTS: Readonly<Record<string, { readonly count: number; readonly isFile: boolean }>> = {
  "--arg": { count: 2, isFile: false },
  "--argjson": { count: 2, isFile: false },
  "--indent": { count: 1, isFile: false },
  "--rawfile": { count: 2, isFile: true },
  "--slurpfile": { count: 2, isFile: true },
};

const LETTERS = /^-[acehjnrsCMRSV]+$/;

/** Statements and functions that read files named in the filter. */
const READS_FILES = /(?<![.\w$"])(?:import|include|modulemeta)(?!\w)/;

/**
 * A filter only transforms its input: there is no function that writes, runs or connects. `-f` and `-L` load filters from files:
 * not declared, like filters that import files. Options with two arguments are parsed here.
 */
export const jq = declareProgram({
  names: ["jq"],
  syntax: "posix",
  operands: { rest: "data", acceptsAnyWord: true },
  examine: examineArguments,
});

function examineArguments({ operands }: ParsedCall): readonly Effect[] | string {
  const effects: Effect[] = [];
  const words: Word[] = [];
  let areFiles = true;
  for (let index = 0; index < operands.length; index += 1) {
    const word = operands[index];
    const { text = "" } = word ?? {};
    if (word === undefined || !text.startsWith("-") || text === "-" || word.isGlob === true) {
      if (word !== undefined && areFiles) words.push(word);
    } else if (text === "--args" || text === "--jsonargs") {
      // The filter may still follow. All words after it are texts.
      areFiles = words.length === 0;
    } else if (text in WITH_ARGUMENTS) {
      const { count = 0, isFile = false } = WITH_ARGUMENTS[text] ?? {};
      const values = operands.slice(index + 1, index + 1 + count);
      const last = values.at(-1);
      if (values.length < count || last === undefined) return `${text} lacks its arguments`;
      if (values.some(({ isGlob, maySplit }) => isGlob === true || maySplit === true))
        return `the arguments of ${text} could become other words`;
      if (isFile) effects.push({ kind: "read", path: last });
      index += count;
    } else if (!FLAGS.has(text) && !LETTERS.test(text)) return `option ${text} is not declared`;
  }
  if (READS_FILES.test(words[0]?.text ?? "")) return "the filter reads files";
  // The first word is the filter. A pattern or a substitution may also contain files.
  const files = words.filter(({ text, isGlob }, index) => index > 0 || text === undefined || isGlob === true);
  return [
    ...effects,
    ...files.filter(({ text }) => text !== "-").map((path): Effect => ({ kind: "read", path })),
  ];
}
