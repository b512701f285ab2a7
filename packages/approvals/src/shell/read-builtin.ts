import { splitAssignment } from "../programs/declaration/environment.ts";
import type { Word } from "../programs/declaration/word.ts";
import { notPlain, type Builtin, type SetVariable } from "./plain-script.ts";

type ReadBuiltin = Builtin | { readonly kind: "export"; readonly variables: readonly SetVariable[] };

/** Builtins that change the shell itself. They are understood here or not at all, whatever programs are declared. */
const CHANGES_SHELL = new Set(
  (
    ". alias autoload bg bind break builtin caller cd compgen complete compopt continue coproc declare dirs disown " +
    "emulate enable eval exec exit export fc fg float functions getopts hash history integer jobs let local logout " +
    "mapfile noglob popd pushd read readarray readonly return select set setopt shift shopt source suspend times trap " +
    "typeset ulimit umask unalias unfunction unset unsetopt wait zmodload"
  ).split(" "),
);

/** Whether a word names a builtin that only the shell layer may interpret, not a declared program. */
export function changesShell(name: string): boolean {
  return CHANGES_SHELL.has(name);
}

/** Reads a call of a builtin. Undefined if the command is a program. */
export function readBuiltin(
  words: readonly Word[],
  environment: readonly SetVariable[],
  home: string,
): ReadBuiltin | undefined {
  const name = words[0]?.text;
  if (name === undefined || !CHANGES_SHELL.has(name)) return undefined;
  // In a POSIX shell such an assignment outlives some builtins.
  if (environment.length > 0) notPlain(`an assignment before ${name}`);
  const args = words.slice(1).map(({ text, isGlob }) => (isGlob === true ? undefined : text));
  // An unknown argument is a number: `exit $?`, `wait $!`.
  const isOne = (pattern: RegExp): boolean =>
    args.length <= 1 && args.every((arg) => arg === undefined || pattern.test(arg));
  switch (name) {
    case "cd":
      if (args.length === 0) return { kind: "cd", path: { text: home } };
      if (args.length > 1 || args[0] === undefined || args[0] === "" || args[0].startsWith("-"))
        notPlain("this use of cd");
      return { kind: "cd", path: { text: args[0] } };
    case ".":
    case "source":
      // Without a slash the file is searched in PATH first.
      if (args.length !== 1 || args[0] === undefined || !args[0].includes("/") || args[0].startsWith("-"))
        notPlain(`this use of ${name}`);
      return { kind: "source", path: { text: args[0] } };
    case "export":
      return { kind: "export", variables: words.slice(1).map(readExport) };
    case "set":
      return args.length > 0 &&
        /^-[eux]+$|^-[eux]*o (?:pipefail|errexit|nounset)$|^\+[eux]+$/.test(args.join(" "))
        ? { kind: "none" }
        : notPlain("this use of set");
    case "exit":
    case "return":
      return isOne(/^\d+$/) ? { kind: "none" } : notPlain(`this use of ${name}`);
    case "break":
    case "continue":
      return isOne(/^\d$/) ? { kind: "none" } : notPlain(`this use of ${name}`);
    case "wait":
      return isOne(/^%?\d+$/) ? { kind: "none" } : notPlain("this use of wait");
    default:
      return notPlain(`the builtin ${name}`);
  }
}

function readExport(word: Word): SetVariable {
  const assignment = splitAssignment(word) ?? notPlain("this use of export");
  return { name: assignment[0], value: assignment[1] };
}
