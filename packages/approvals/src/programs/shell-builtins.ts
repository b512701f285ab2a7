import { splitAssignment } from "./declaration/environment.ts";
import type { NotUnderstood } from "./declaration/parsed-call.ts";
import type { Word } from "./declaration/word.ts";

/** A variable that is set for one command or for all later ones. */
export interface SetVariable {
  readonly name: string;
  readonly value: Word;
}

/** A call of a builtin that the shell itself runs. */
export type Builtin =
  /** No effect that matters here: `set -e`, `exit 1`, `wait`. */
  | { readonly kind: "none" }
  | { readonly kind: "cd"; readonly path: Word }
  | { readonly kind: "source"; readonly path: Word }
  | { readonly kind: "export"; readonly variables: readonly SetVariable[] };

/** Parses the arguments of a call. Undefined if they are not understood. */
type ReadArguments = (args: readonly (string | undefined)[], words: readonly Word[]) => Builtin | undefined;

const NONE: Builtin = { kind: "none" };

/** Accepts at most one argument. An unknown one is a number: `exit $?`, `wait $!`. */
const oneArgument =
  (pattern: RegExp): ReadArguments =>
  (args) =>
    args.length <= 1 && args.every((arg) => arg === undefined || pattern.test(arg)) ? NONE : undefined;

const source: ReadArguments = ([file, ...others]) =>
  // Without a slash, the file is searched for in PATH first.
  file === undefined || others.length > 0 || !file.includes("/") || file.startsWith("-")
    ? undefined
    : { kind: "source", path: { text: file } };

const notUnderstood: ReadArguments = () => undefined;

/** Builtins that change the shell itself. They are understood here or not at all, regardless of declared programs. */
const BUILTINS: ReadonlyMap<string, ReadArguments> = new Map([
  ...(
    "alias autoload bg bind builtin caller compgen complete compopt coproc declare dirs disown emulate enable eval exec fc " +
    "fg float functions getopts hash history integer jobs let local logout mapfile noglob popd pushd read readarray " +
    "readonly select setopt shift shopt suspend times trap typeset ulimit umask unalias unfunction unset unsetopt zmodload"
  )
    .split(" ")
    .map((name): [string, ReadArguments] => [name, notUnderstood]),
  [".", source],
  ["break", oneArgument(/^\d$/)],
  [
    "cd",
    ([folder, ...others]) =>
      folder === undefined || folder === "" || folder.startsWith("-") || others.length > 0
        ? undefined
        : { kind: "cd", path: { text: folder } },
  ],
  ["continue", oneArgument(/^\d$/)],
  ["exit", oneArgument(/^\d+$/)],
  [
    "export",
    (_, words) => {
      const variables = words.map(splitAssignment);
      return variables.every((variable) => variable !== undefined)
        ? { kind: "export", variables: variables.map(([name, value]) => ({ name, value })) }
        : undefined;
    },
  ],
  ["return", oneArgument(/^\d+$/)],
  [
    "set",
    (args) =>
      /^-[eux]+$|^-[eux]*o (?:pipefail|errexit|nounset)$|^\+[eux]+$/.test(args.join(" ")) ? NONE : undefined,
  ],
  ["source", source],
  ["wait", oneArgument(/^%?\d+$/)],
]);

/** Whether a word names a builtin that only the shell itself runs, not a declared program. */
export function changesShell(name: string): boolean {
  return BUILTINS.has(name);
}

/** Parses a call of a builtin. Undefined if the command is a program. */
export function readBuiltin(
  words: readonly Word[],
  environment: readonly SetVariable[],
  home: string,
): Builtin | NotUnderstood | undefined {
  const { text: name = "", isGlob: isPattern } = words[0] ?? { text: "" };
  const read = isPattern === true ? undefined : BUILTINS.get(name);
  if (read === undefined) return undefined;
  const rest = words.slice(1);
  const args = rest.map(({ text, isGlob }) => (isGlob === true ? undefined : text));
  // In a POSIX shell such an assignment outlives some builtins.
  if (environment.length > 0) return { problem: `an assignment before ${name}` };
  if (name === "cd" && args.length === 0) return { kind: "cd", path: { text: home } };
  return read(args, rest) ?? { problem: `this use of ${name}` };
}
