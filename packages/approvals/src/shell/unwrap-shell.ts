import type { Dialect } from "./plain-script.ts";

/** The script that Codex wants to run and the shell that reads it, or the words of a program without a shell. */
export type Unwrapped =
  | { readonly kind: "script"; readonly script: string; readonly dialect: Dialect }
  | { readonly kind: "words"; readonly words: readonly string[] };

const SHELL = /^(?:\/(?:usr\/)?(?:local\/)?bin\/|\/opt\/homebrew\/bin\/)?(bash|sh|dash|zsh)$/;
const CALL = /^(\S+) +(-l?c) +(?=\S)/;

/** Removes the `bash -lc` that Codex puts around every script: once, in exactly the shapes that it uses. */
export function unwrapShell(command: string | readonly string[]): Unwrapped {
  if (typeof command !== "string") return unwrapWords(command) ?? { kind: "words", words: command };
  const [start = "", shell = "", option = ""] = CALL.exec(command) ?? [];
  const script = SHELL.test(shell)
    ? unquote(command.slice(start.length).replace(/(?<! ) +$/, ""))
    : undefined;
  const unwrapped = script === undefined ? undefined : unwrapWords([shell, option, script]);
  return unwrapped ?? { kind: "script", script: command, dialect: "unknown" };
}

function unwrapWords(words: readonly string[]): Unwrapped | undefined {
  const [shell = "", option = "", script] = words;
  const name = SHELL.exec(shell)?.[1];
  if (name === undefined || words.length !== 3 || script === undefined || !/^-l?c$/.test(option))
    return undefined;
  return { kind: "script", script, dialect: name === "bash" || name === "zsh" ? name : "unknown" };
}

/** Codex quotes a script like shlex does: `'it'"'"'s'`. People write `"npm test"`. */
const PIECE = /'([^']*)'|"([^"\\$`]*(?:\\["\\$`][^"\\$`]*)*)"|\\(')|([\w./@%+=:,-]+)/gy;
/** Quoted pieces of a script: it has one per quote in it. */
const MOST_PIECES = 10_000;

/** The text of one word in quotes. Undefined if there is anything else in it. Linear in the text. */
function unquote(word: string): string | undefined {
  let text = "";
  let end = 0;
  for (const [piece, single, double, escaped, plain] of word.matchAll(PIECE).take(MOST_PIECES)) {
    text += single ?? double?.replaceAll(/\\(.)/g, "$1") ?? escaped ?? plain ?? "";
    end += piece.length;
  }
  return end === word.length ? text : undefined;
}
