import { baseName, withoutEndSlashes } from "../files/path.ts";
import { declareProgram } from "./declaration/declaration.ts";
import type { Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { entriesBelow, isLiteral } from "./declaration/path-words.ts";
import { literal, type Word } from "./declaration/word.ts";

/** Tests and actions with one argument that have no effect. */
const WITH_ARGUMENT = new Set([
  "-amin",
  "-atime",
  "-cmin",
  "-ctime",
  "-fstype",
  "-gid",
  "-group",
  "-ilname",
  "-iname",
  "-inum",
  "-ipath",
  "-iregex",
  "-iwholename",
  "-links",
  "-lname",
  "-maxdepth",
  "-mindepth",
  "-mmin",
  "-mtime",
  "-name",
  "-newermt",
  "-path",
  "-perm",
  "-printf",
  "-regex",
  "-regextype",
  "-size",
  "-type",
  "-uid",
  "-used",
  "-user",
  "-wholename",
  "-xtype",
]);

/** Tests whose argument is a file that is read. */
const WITH_FILE = new Set(["-anewer", "-cnewer", "-newer", "-samefile"]);

const PLAIN = new Set([
  "-a",
  "-and",
  "-d",
  "-daystart",
  "-depth",
  "-empty",
  "-executable",
  "-false",
  "-ignore_readdir_race",
  "-ls",
  "-mount",
  "-nogroup",
  "-noleaf",
  "-nouser",
  "-nowarn",
  "-print",
  "-print0",
  "-prune",
  "-quit",
  "-readable",
  "-true",
  "-writable",
  "-xdev",
]);

/** With one of these, a tested name does not apply to all files that an action receives. */
const BRANCHES = new Set(["!", "(", ")", ",", "-not", "-o", "-or"]);

/** Maximum number of actions in all folders together. */
const MOST_ACTIONS = 1_000;

/**
 * `-exec` runs a command on files below the start folders: `{}` becomes a pattern for these. `-execdir` and `-ok` run it
 * elsewhere or ask a terminal, `-fprint` and the like write, and `-files0-from` reads folders: not declared.
 */
export const find = declareProgram({
  names: ["find"],
  syntax: "posix",
  operands: { rest: "data", acceptsAnyWord: true },
  examine: ({ operands }: ParsedCall) => new Expression(operands).examine(),
});

class Expression {
  readonly #words: readonly Word[];
  readonly #starts: Word[] = [];
  readonly #effects: Effect[] = [];
  readonly #commands: { readonly words: readonly Word[]; readonly name: string | undefined }[] = [];
  readonly #deletions = new Set<string | undefined>();
  #index = 0;
  /** The name that was tested last. A test applies only to the actions after it. */
  #name: string | undefined;
  #hasBranches = false;
  #followsLinks = false;

  constructor(words: readonly Word[]) {
    this.#words = words;
  }

  examine(): readonly Effect[] | string {
    const problem = this.#readStarts() ?? this.#readExpression();
    if (problem !== undefined) return problem;
    if (this.#starts.length === 0) this.#starts.push(literal("."));
    const actions = this.#deletions.size + this.#commands.length;
    if (actions * this.#starts.length > MOST_ACTIONS) return "it has more actions than can be judged";
    if (actions > 0 && this.#followsLinks) return "links may lead its actions anywhere";
    for (const start of this.#starts) {
      this.#effects.push({ kind: "read", path: start });
      for (const name of this.#deletions) this.#effects.push(...deletion(start, this.#heldName(name)));
      for (const { words, name } of this.#commands) {
        for (const path of foundBelow(start, this.#heldName(name)))
          this.#effects.push({ kind: "command", words: words.map((word) => replacePlaceholder(word, path)) });
      }
    }
    return this.#effects;
  }

  #heldName(name: string | undefined): string | undefined {
    return this.#hasBranches ? undefined : name;
  }

  #readStarts(): string | undefined {
    for (; this.#index < this.#words.length; this.#index += 1) {
      const word = this.#words[this.#index];
      const text = word?.text;
      if (word === undefined || text === undefined || word.maySplit === true)
        return "a folder is only known at run time";
      if (text === "-L" || text === "-H") this.#followsLinks = true;
      else if (word.isGlob === true ? /^[-*?[{(!+@,]/.test(text) : text === "" || text === "--")
        return `"${text}" could be an expression`;
      else if (text !== "-P") {
        if (text.startsWith("-") || BRANCHES.has(text)) return undefined;
        this.#starts.push(word);
      }
    }
    return undefined;
  }

  #readExpression(): string | undefined {
    while (this.#index < this.#words.length) {
      const word = this.#words[this.#index++];
      if (!isLiteral(word)) return "a part of the expression is only known at run time";
      const problem = this.#readPrimary(word.text);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  #readPrimary(text: string): string | undefined {
    if (PLAIN.has(text)) return undefined;
    if (BRANCHES.has(text)) {
      this.#hasBranches = true;
      return undefined;
    }
    if (text === "-follow") {
      this.#followsLinks = true;
      return undefined;
    }
    if (text === "-delete") {
      this.#deletions.add(this.#name);
      return undefined;
    }
    if (text === "-exec") return this.#readCommand();
    if (!WITH_ARGUMENT.has(text) && !WITH_FILE.has(text)) return `${text} is not declared`;
    const argument = this.#words[this.#index++];
    if (argument === undefined) return `${text} lacks its argument`;
    if (argument.isGlob === true || argument.maySplit === true)
      return `the argument of ${text} could become several words`;
    if (text === "-name") this.#name = argument.text;
    if (WITH_FILE.has(text)) {
      if (argument.text === undefined) return "a file is only known at run time";
      this.#effects.push({ kind: "read", path: argument });
    }
    return undefined;
  }

  #readCommand(): string | undefined {
    const words: Word[] = [];
    while (this.#index < this.#words.length) {
      const word = this.#words[this.#index++];
      if (word === undefined || word.maySplit === true || word.isGlob === true)
        return "the command is only known at run time";
      if (word.text === ";" || (word.text === "+" && words.at(-1)?.text === "{}")) {
        if (words.length === 0) return "-exec lacks its command";
        this.#commands.push({ words, name: this.#name });
        return undefined;
      }
      words.push(word);
    }
    return "-exec lacks its end";
  }
}

/** `-delete` removes files and empty folders. A name restricts it if it applies to the whole expression. */
function deletion(start: Word, name: string | undefined): readonly Effect[] {
  if (mayMatch(name, start)) return [{ kind: "delete", path: start, isRecursive: true }];
  return entriesBelow(start, name).map((path) => ({ kind: "delete", path, isRecursive: false }));
}

/** The paths that a command receives, including the start folder unless its name does not match. */
function foundBelow(start: Word, name: string | undefined): readonly Word[] {
  const entries = entriesBelow(start, name);
  return mayMatch(name, start) ? [...entries, start] : entries;
}

/** Whether the start folder itself may match the name. */
function mayMatch(name: string | undefined, start: Word): boolean {
  if (name === undefined || start.isGlob === true || /[[\\]/.test(name)) return true;
  const base = baseName(withoutEndSlashes(start.text ?? ""));
  // Matches one part between stars after the other, each as early as possible: linear, unlike a backtracking expression.
  const [first = "", ...parts] = name.split("*");
  const last = parts.pop();
  if (last === undefined) return base.length === first.length && matchesAt(base, first, 0);
  if (base.length < first.length + last.length || !matchesAt(base, first, 0)) return false;
  const end = base.length - last.length;
  let at = first.length;
  for (const part of parts) {
    while (at + part.length <= end && !matchesAt(base, part, at)) at += 1;
    if (at + part.length > end) return false;
    at += part.length;
  }
  return matchesAt(base, last, end);
}

function matchesAt(text: string, part: string, at: number): boolean {
  return part.split("").every((letter, index) => letter === "?" || letter === text[at + index]);
}

function replacePlaceholder(word: Word, path: Word): Word {
  const { text } = word;
  if (text === undefined || !text.includes("{}")) return word;
  const rest = text.startsWith("{}") ? text.slice(2) : undefined;
  if (rest === undefined || rest.includes("{}")) return { text: undefined };
  return { ...path, text: `${path.text ?? ""}${rest}` };
}
