import { findCommands } from "./find-commands.ts";
import { parseSource } from "../shell/parse-source.ts";
import type { WorkBudget } from "../limits.ts";
import { isDashed } from "../programs/declaration/word.ts";
import { mayRunArguments } from "../programs/known-by-name.ts";
import { findRunners } from "../programs/runners.ts";

type Words = readonly (string | undefined)[];

const NONE: readonly Words[] = [];

/**
 * The commands that a program may run, judged by its words alone: `npx git push` runs `git push`. Errs towards more: after a
 * program that runs others, any word may be a program, and an argument with blanks may be a script. Any program that is not
 * understood may run its arguments.
 */
export function innerCommands(words: Words, isUnderstood: boolean, budget: WorkBudget): readonly Words[] {
  if (words[0] === undefined || words.length < 2) return NONE;
  const runners = findRunners(words[0]).filter(({ verb = "" }) =>
    verb.split(" ").every((part) => part === "" || words.includes(part)),
  );
  const runsWords = runners.some(({ onlyCode }) => onlyCode !== true);
  const starts = words.flatMap((word, at) => (at === 0 || isDashed(word) ? [] : [at]));
  const mayRun = runsWords || (!isUnderstood && mayRunArguments(words));
  // All words after each start are compared.
  const isCheap = mayRun && budget.spend("codeChars", starts.length * words.length);
  const inner = isCheap ? starts.map((at) => words.slice(at)) : NONE;
  if (runners.length === 0) return inner;
  const texts = words.slice(1).map((word) => word?.replace(/^--?[\w-]+=/, "") ?? "");
  return [...inner, ...texts.flatMap((text) => commandsInCode(text, budget))];
}

/** Strings with blanks, and the words of `qw(…)` in Perl and Ruby. */
const STRINGS = /"([^"\s]*[^\S\n][^"\n]*)"|'([^'\s]*[^\S\n][^'\n]*)'|\bqw\s{0,20}[({[/<]([^)}\]/>\n]*)/g;
/** `"git", "push"` and `"git", ["push"]`. */
const STRING_LISTS = /["'][^"'\n]*["'](?:\s{0,20},\s{0,20}\[?\s{0,20}["'][^"'\n]*["'])+/g;

/**
 * The commands in code of any language: in the text itself, in its strings, as in `os.system("git push")`, and in its lists
 * of strings, as in `system("git", "push")`.
 */
export function commandsInCode(code: string, budget: WorkBudget): readonly Words[] {
  if (!/[\s,]/.test(code) || !budget.spend("codeChars", code.length)) return NONE;
  const strings = [...code.matchAll(STRINGS)].map((match) => match[1] ?? match[2] ?? match[3] ?? "");
  const lists = Array.from(code.matchAll(STRING_LISTS), ([list]) =>
    Array.from(list.matchAll(/["']([^"'\n]*)["']/g), ([, text]) => text),
  );
  // In a makefile, a recipe may begin with `@`, `-` or `+`, and `$(shell …)` is a substitution.
  const plain = code.replaceAll(
    /(^|[\n;:])([ \t]{0,8})[@+-]{1,3}(?=\w)|\$\(shell(?=\s)/g,
    (_, before, blanks) => (before === undefined ? "$(" : `${before}${blanks}`),
  );
  const texts = [plain, ...strings].flatMap((text) => {
    const script = parseSource(text);
    return script === undefined ? [] : findCommands(script, true).commands.map(({ words }) => words);
  });
  return [...texts, ...lists];
}
