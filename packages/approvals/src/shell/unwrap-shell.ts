import type { Dialect } from "./plain-script.ts";

/** The script that Codex wants to run and the shell that reads it, or the words of a program without a shell. */
export type Unwrapped =
  | { readonly kind: "script"; readonly script: string; readonly dialect: Dialect }
  | { readonly kind: "words"; readonly words: readonly string[] };

const SHELL = /^(?:\/(?:usr\/)?(?:local\/)?bin\/|\/opt\/homebrew\/bin\/)?(bash|sh|dash|zsh)$/;

/** Removes the `bash -lc` that Codex puts around every script: once, in exactly the shapes that it uses. */
export function unwrapShell(command: string | readonly string[]): Unwrapped {
  if (typeof command !== "string") return unwrapWords(command) ?? { kind: "words", words: command };
  const end = command.indexOf(" ");
  const words = end > 0 && SHELL.test(command.slice(0, end)) ? splitWords(command) : undefined;
  return (
    (words === undefined ? undefined : unwrapWords(words)) ?? {
      kind: "script",
      script: command,
      dialect: "unknown",
    }
  );
}

function unwrapWords(words: readonly string[]): Unwrapped | undefined {
  const [shell = "", option = "", script] = words;
  const name = SHELL.exec(shell)?.[1];
  if (name === undefined || words.length !== 3 || script === undefined || !/^-l?c$/.test(option))
    return undefined;
  return { kind: "script", script, dialect: name === "bash" || name === "zsh" ? name : "unknown" };
}

/** Quoted pieces of one word: a script has one per quote in it. */
const MOST_PIECES = 10_000;
/** Codex quotes a script like shlex does: `'it'"'"'s'`. People write `"npm test"`. */
const PIECE = /"([^"\\$`]*(?:\\["\\$`][^"\\$`]*)*)"|\\(')|([\w./@%+=:,-]+)/y;

/** Splits a call of plain and quoted words. Undefined if there is anything else in it. Linear in the text. */
function splitWords(command: string): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let at = 0;
  for (let pieces = 0; at < command.length; pieces += 1) {
    if (pieces > MOST_PIECES || words.length > 3) return undefined;
    if (command.charAt(at) === " ") {
      if (word !== undefined) words.push(word);
      word = undefined;
      at += 1;
      continue;
    }
    if (command.charAt(at) === "'") {
      const end = command.indexOf("'", at + 1);
      if (end === -1) return undefined;
      word = (word ?? "") + command.slice(at + 1, end);
      at = end + 1;
      continue;
    }
    PIECE.lastIndex = at;
    const match = PIECE.exec(command);
    if (match === null) return undefined;
    const [all, double, escaped, plain] = match;
    word = (word ?? "") + (double?.replaceAll(/\\(.)/g, "$1") ?? escaped ?? plain ?? "");
    at += all.length;
  }
  return word === undefined ? words : [...words, word];
}
