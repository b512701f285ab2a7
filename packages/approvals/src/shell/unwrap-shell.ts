import { parse } from "unbash";
import { LIMITS } from "../limits.ts";
import type { Dialect } from "./plain-script.ts";

/** The script that Codex wants to run and the shell that reads it, or the words of a program without a shell. */
export type Unwrapped =
  | { readonly kind: "script"; readonly script: string; readonly dialect: Dialect }
  | { readonly kind: "words"; readonly words: readonly string[] };

const SHELL = /^(?:\/(?:usr\/)?(?:local\/)?bin\/|\/opt\/homebrew\/bin\/)?(bash|sh|dash|zsh)$/;

/** Codex quotes the script like shlex does: `/bin/bash -lc 'it'"'"'s'`. Most scripts have no quote inside. */
const PLAIN_CALL = /^(\S+) (-l?c) '([^']*)'$/;

/** Takes off the `bash -lc` that Codex puts around every script: once, in exactly the shapes that it uses. */
export function unwrapShell(command: string | readonly string[]): Unwrapped {
  if (typeof command !== "string") return unwrapWords(command) ?? { kind: "words", words: command };
  return unwrapLine(command) ?? { kind: "script", script: command, dialect: "unknown" };
}

function unwrapWords(words: readonly string[]): Unwrapped | undefined {
  const [shell = "", option = "", script] = words;
  const name = SHELL.exec(shell)?.[1];
  if (name === undefined || words.length !== 3 || script === undefined || !/^-l?c$/.test(option))
    return undefined;
  return { kind: "script", script, dialect: name === "bash" || name === "zsh" ? name : "unknown" };
}

function unwrapLine(command: string): Unwrapped | undefined {
  const end = command.indexOf(" ");
  if (end === -1 || end > 64 || !SHELL.test(command.slice(0, end))) return undefined;
  const plain = PLAIN_CALL.exec(command);
  if (plain !== null) return unwrapWords(plain.slice(1));
  const words = splitQuoted(command);
  if (words !== undefined) return unwrapWords(words);
  if (command.length > LIMITS.syntaxChars) return undefined;
  // Written by hand: `bash -lc "npm test"`.
  const { commands, errors } = parse(command);
  const node = commands[0]?.command;
  if (errors !== undefined || commands.length !== 1 || commands[0]?.background === true) return undefined;
  if (node?.type !== "Command" || node.name === undefined || node.redirects.length + node.prefix.length > 0)
    return undefined;
  const nodes = [node.name, ...node.args];
  const literals = nodes.map((word) =>
    word.type === "Word" && (word.parts ?? []).every(isLiteralPart) ? word.value : undefined,
  );
  return literals.every((text) => text !== undefined) ? unwrapWords(literals) : undefined;
}

function isLiteralPart(part: {
  readonly type: string;
  readonly parts?: readonly { readonly type: string }[] | undefined;
}): boolean {
  if (part.type === "DoubleQuoted") return (part.parts ?? []).every(({ type }) => type === "Literal");
  return part.type === "Literal" || part.type === "SingleQuoted";
}

/** Quoted pieces of one word: a script has one per quote in it. */
const MOST_PIECES = 10_000;
const PLAIN_RUN = /[\w./@%+=:,-]+/y;

/** Words of plain characters, single quotes and quoted single quotes, as shlex writes them. Linear in the text. */
function splitQuoted(command: string): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let at = 0;
  for (let pieces = 0; at < command.length; pieces += 1) {
    if (pieces > MOST_PIECES) return undefined;
    const char = command.charAt(at);
    if (char === " ") {
      if (word !== undefined) words.push(word);
      word = undefined;
      at += 1;
    } else if (char === "'") {
      const end = command.indexOf("'", at + 1);
      if (end === -1) return undefined;
      word = (word ?? "") + command.slice(at + 1, end);
      at = end + 1;
    } else if (command.startsWith(`"'"`, at)) {
      word = `${word ?? ""}'`;
      at += 3;
    } else if (command.startsWith(String.raw`\'`, at)) {
      word = `${word ?? ""}'`;
      at += 2;
    } else {
      PLAIN_RUN.lastIndex = at;
      const run = PLAIN_RUN.exec(command)?.[0];
      if (run === undefined) return undefined;
      word = (word ?? "") + run;
      at += run.length;
    }
    if (words.length > 3) return undefined;
  }
  if (word !== undefined) words.push(word);
  return words;
}
