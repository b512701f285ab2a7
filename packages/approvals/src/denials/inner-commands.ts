import { findCommands } from "./find-commands.ts";
import { parseSource } from "../shell/parse-source.ts";
import type { WorkBudget } from "../shell/work-budget.ts";
import { isDashed } from "../programs/declaration/word.ts";
import { findRunners, type Runner } from "../programs/runners.ts";

type Words = readonly (string | undefined)[];

const NONE: readonly Words[] = [];
const DEEPEST = 6;
const MOST_COMMANDS = 64;

/**
 * The commands that a program may run, by its words alone: `npx git push` runs `git push`. Guesses towards more: a word
 * behind an option may be the option's argument or the command, so both are in the list. An argument with blanks is read
 * as a script.
 */
export function innerCommands(words: Words, budget: WorkBudget): readonly Words[] {
  const [first] = words;
  if (first === undefined || words.length < 2) return NONE;
  const runners = findRunners(first);
  if (runners === undefined) return NONE;
  const found: Words[] = [];
  collect(words, runners, found, 0, budget);
  return found;
}

/** Strings with blanks, and the words of `qw(…)` in Perl and Ruby. */
const STRINGS = /"([^"\n]*\s[^"\n]*)"|'([^'\n]*\s[^'\n]*)'|\bqw\s*[({[/<]([^)}\]/>\n]*)/g;
/** `"git", "push"` and `"git", ["push"]`. */
const STRING_LISTS = /["'][^"'\n]*["'](?:\s*,\s*\[?\s*["'][^"'\n]*["'])+/g;

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

function collect(
  words: Words,
  runners: readonly Runner[],
  found: Words[],
  depth: number,
  budget: WorkBudget,
): void {
  for (const { verb, operands = 0, onlyCode = false } of runners) {
    const start = verb === undefined ? 1 : behindVerb(words, verb.split(" "));
    if (start === undefined) continue;
    for (const at of onlyCode ? [] : commandStarts(words, start, operands)) {
      const inner = words.slice(at);
      if (found.length >= MOST_COMMANDS) return;
      found.push(inner);
      const next = inner[0] === undefined ? undefined : findRunners(inner[0]);
      if (next !== undefined && depth < DEEPEST) collect(inner, next, found, depth + 1, budget);
    }
    for (const word of words.slice(start)) {
      if (found.length < MOST_COMMANDS)
        found.push(...commandsInCode(word?.replace(/^--?[\w-]+=/, "") ?? "", budget));
    }
  }
}

function behindVerb(words: Words, verb: readonly string[]): number | undefined {
  let at = 1;
  for (const part of verb) {
    while (at < words.length && words[at] !== part) {
      if (!isDashed(words[at]) && !(at > 1 && isDashed(words[at - 1]))) return undefined;
      at += 1;
    }
    if (at >= words.length) return undefined;
    at += 1;
  }
  return at;
}

/** Every place where the command may begin: a word behind an option may be its argument or an operand. */
function commandStarts(words: Words, start: number, operands: number): readonly number[] {
  const starts: number[] = [];
  let fewest = 0;
  let most = 0;
  for (let at = start; at < words.length && fewest <= operands; at += 1) {
    const word = words[at];
    if (isDashed(word) || (word !== undefined && /^\w+=/.test(word))) continue;
    if (most >= operands) starts.push(at);
    most += 1;
    const mayBeArgument = at > start && isDashed(words[at - 1]) && words[at - 1] !== "--";
    if (!mayBeArgument) fewest += 1;
  }
  return starts;
}
