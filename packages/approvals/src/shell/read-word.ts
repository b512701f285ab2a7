import { retainShape } from "../retain-shape.ts";
import type { ParsedScript, Word as Node, WordPart } from "unbash";
import type { Word } from "../programs/declaration/word.ts";
import { notPlain, type Dialect } from "./plain-script.ts";
import { isInherited } from "../programs/declaration/script-variables.ts";
import type { WorkBudget } from "./work-budget.ts";

/** What a word may refer to. */
export interface WordScope {
  readonly dialect: Dialect;
  readonly home: string;
  /** The folders that the shell may be in. `$PWD` is known if there is only one. */
  readonly folders: readonly string[];
  readonly variables: ReadonlyMap<string, Word>;
  readonly budget: WorkBudget;
  /** Reads the script of a substitution, which must be understood itself. */
  readonly readSubstitution: (script: ParsedScript, scope: WordScope) => void;
}

/** A word as a shell without brace expansion reads it. */
export interface ReadWord extends Word {
  /** The words that bash makes of its braces. Undefined if it has none. */
  readonly expanded?: readonly Word[] | undefined;
}

/** Unquoted characters that no shell treats alike, or that hide from a reader: controls and foreign blanks. */
const UNUSUAL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/u;
const CONTROL = /[^\P{Cc}\t\n]/u;
const MOST_BRACE_WORDS = 64;
const GLOB_CHARS = /[*?[\]\\]/;
const PLAIN_WORD = /^[\w./:@%+,-]+$/;

export function readWord(node: Node, scope: WordScope): ReadWord {
  // Words without quotes, expansions and patterns are most of all words.
  if (PLAIN_WORD.test(node.text)) return { text: node.text };
  const parts = node.parts ?? [
    { type: "Literal", value: node.value, text: node.text, pos: node.pos, end: node.end } as const,
  ];
  const word = assemble(parts, scope, []);
  const braces = parts.filter(({ type }) => type === "BraceExpansion");
  if (braces.length === 0) return word;
  // `{a,b}{c,d}` is every combination, the last one changing fastest.
  let combinations: readonly (readonly string[])[] = [[]];
  for (const { text } of braces) {
    const texts = expandBraces(text) ?? notPlain(`the list ${text}`);
    combinations = combinations.flatMap((before) => texts.map((each) => [...before, each]));
    if (combinations.length > MOST_BRACE_WORDS) notPlain(`the list ${node.text}`);
  }
  const words = combinations.map((texts) => assemble(parts, scope, texts));
  // An unquoted word that expands to nothing vanishes.
  return { ...word, expanded: words.filter(({ text }) => text !== "") };
}

/** A word that every shell takes for one word, whatever it is. */
export function readOneWord(node: Node, scope: WordScope, what: string): Word {
  const word = readWord(node, scope);
  return word.expanded !== undefined || word.isGlob === true ? notPlain(what) : word;
}

/** @param braces The replacement of each brace expansion. Empty: the expansions as they are written. */
function assemble(parts: readonly WordPart[], scope: WordScope, braces: readonly string[]): Word {
  const word = new WordBuilder();
  let used = 0;
  for (const [index, part] of parts.entries()) {
    if (part.type === "BraceExpansion") word.addText(braces[used++] ?? part.text, false);
    else if (part.type === "Literal") addLiteral(word, part, scope, index === 0);
    else addPart(word, part, scope, false);
  }
  return word.build();
}

class WordBuilder {
  #text: string | undefined = "";
  #isGlob = false;
  #hasGlobChars = false;
  #maySplit = false;
  #isQuoted = false;

  addText(text: string, isQuoted: boolean): void {
    if (text.includes("\0")) notPlain("a NUL character");
    if (isQuoted) this.#isQuoted = true;
    if (GLOB_CHARS.test(text)) this.#hasGlobChars = true;
    if (this.#text !== undefined) this.#text += text;
  }

  addGlob(text: string): void {
    this.#isGlob = true;
    if (this.#text !== undefined) this.#text += text;
  }

  addUnknown(isQuoted: boolean): void {
    this.#text = undefined;
    if (isQuoted) this.#isQuoted = true;
    else this.#maySplit = true;
  }

  addVariable(value: Word, isQuoted: boolean): void {
    const { text, isGlob } = value;
    if (text === undefined) return this.addUnknown(isQuoted || value.maySplit === false);
    // An unquoted value is split at blanks, and its wildcards are expanded again.
    if (!isQuoted && (isGlob === true || text === "" || /[\s*?[\]\\]/.test(text)))
      return this.addUnknown(false);
    if (isGlob === true) this.addGlob(text);
    else this.addText(text, isQuoted);
    if (isQuoted) this.#isQuoted = true;
  }

  build(): Word {
    if (this.#text === undefined)
      return this.#maySplit ? { text: undefined, maySplit: true } : { text: undefined };
    // The text of a pattern does not distinguish a quoted star from a wildcard.
    if (this.#isGlob && this.#hasGlobChars) notPlain("a pattern with quoted wildcards");
    if (this.#isGlob) return { text: this.#text, isGlob: true };
    if (this.#text === "" && !this.#isQuoted) notPlain("an empty word");
    return { text: this.#text };
  }
}

function addPart(word: WordBuilder, part: WordPart, scope: WordScope, isQuoted: boolean): void {
  switch (part.type) {
    case "Literal":
      if (CONTROL.test(part.value)) notPlain("a control character");
      return word.addText(part.value, true);
    case "SingleQuoted":
      return word.addText(part.value, true);
    case "DoubleQuoted":
      word.addText("", true);
      for (const child of part.parts) addPart(word, child, scope, true);
      return undefined;
    case "AnsiCQuoted":
      // dash takes the dollar sign literally, and shells differ in the rarer escapes.
      if (scope.dialect === "unknown" || /\\[^nt\\'"]/.test(part.text)) notPlain(`the quoting ${part.text}`);
      return word.addText(part.value, true);
    case "SimpleExpansion":
    case "ParameterExpansion":
      return word.addVariable(readVariable(part, scope), isQuoted);
    case "CommandExpansion":
      return addSubstitution(word, part, scope, isQuoted);
    case "Glob":
      if (part.kind === "bracket" && /[/'"$`\\]/.test(part.text)) notPlain(`the pattern ${part.text}`);
      return word.addGlob(part.value);
    case "ArithmeticExpansion":
      return notPlain(`the arithmetic ${part.text}`);
    default:
      return notPlain(`the expansion ${part.text}`);
  }
}

/** Unquoted text. */
function addLiteral(
  word: WordBuilder,
  { text, value }: { readonly text: string; readonly value: string },
  scope: WordScope,
  isFirst: boolean,
): void {
  if (UNUSUAL.test(text.replaceAll("\\\n", ""))) notPlain("an unusual character");
  // Brace expansions are parts of their own; what is left of a list could still be one for another shell.
  if (/\{[^}]*(?:,|\.\.)|,[^{]*\}/.test(text) && !text.includes("\\{")) notPlain(`the braces in ${text}`);
  // A bracket that has no end here may end in a quoted part behind it.
  if (text !== "[" && /(?<!\\)\[/.test(text)) notPlain(`the bracket in ${text}`);
  if (/[=:]~/.test(text)) notPlain(`the tilde in ${text}`);
  if (!isFirst) return word.addText(value, false);
  // zsh replaces `=name` by the path of a program.
  if (text.startsWith("=")) notPlain(`the word ${text}`);
  if (!text.startsWith("~")) return word.addText(value, false);
  if (!/^~(?:\/|$)/.test(text)) notPlain(`the folder ${text}`);
  return word.addText(scope.home + value.slice(1), true);
}

type Expansion = Extract<WordPart, { readonly type: "SimpleExpansion" | "ParameterExpansion" }>;

/** The value of a variable. It is paid for wherever it is used, so that values made of values can't grow without end. */
function readVariable(part: Expansion, scope: WordScope): Word {
  const name = variableName(part);
  const value = scope.variables.get(name) ?? inheritedValue(name, scope);
  if (!scope.budget.spend("expandedChars", value.text?.length ?? 0)) notPlain("a script this long");
  return value;
}

/** Anything more than `$name` and `${name}` is not understood. */
function variableName({ text }: Expansion): string {
  const name = /^\$(?:\{(\w+)\}|(\w+|[?$!#]))$/.exec(text);
  return name?.[1] ?? name?.[2] ?? notPlain(`the expansion ${text}`);
}

function inheritedValue(name: string, { home, folders }: WordScope): Word {
  if (name === "HOME") return { text: home };
  if (name === "PWD")
    return folders.length === 1 ? { text: folders[0] } : notPlain("$PWD after a cd that may fail");
  // A number, so it never splits.
  if (/^[?$!#]$/.test(name)) return { text: undefined, maySplit: false };
  return isInherited(name) ? { text: undefined } : notPlain(`the variable $${name}`);
}

type Substitution = Extract<WordPart, { readonly type: "CommandExpansion" }>;

function addSubstitution(word: WordBuilder, part: Substitution, scope: WordScope, isQuoted: boolean): void {
  const { script, text } = part;
  // Backticks have quoting rules of their own.
  if (!text.startsWith("$(") || script === undefined || script.errors !== undefined)
    notPlain(`the substitution ${text}`);
  const [folder] = scope.folders;
  if (/^\$\(\s*pwd\s*\)$/.test(text) && folder !== undefined && scope.folders.length === 1)
    return word.addVariable({ text: folder }, isQuoted);
  scope.readSubstitution(script, scope);
  return word.addUnknown(isQuoted);
}

/** The text of a here-document, or undefined if it is only known at run time. Its substitutions must be understood. */
export function readHereDocumentText(
  body: { readonly text: string; readonly parts: readonly WordPart[] | undefined },
  scope: WordScope,
): string | undefined {
  // Reading the parts of a long document costs more than everything else: most have none.
  if (!/[$`\\]/.test(body.text) || body.parts === undefined) return body.text;
  const text = new WordBuilder();
  for (const part of body.parts) {
    if (part.type === "Literal") text.addText(part.value, true);
    else if (part.type === "SimpleExpansion" || part.type === "ParameterExpansion") {
      // Any variable may be printed: nothing but its text gets into the document.
      variableName(part);
      text.addUnknown(true);
    } else if (part.type === "CommandExpansion") addSubstitution(text, part, scope, true);
    else notPlain(`the expansion ${part.text}`);
  }
  return text.build().text;
}

const BRACE_LIST = /^\{([\w./@+%:-]*(?:,[\w./@+%:-]*)+)\}$/;
const BRACE_RANGE = /^\{(\d{1,4})\.\.(\d{1,4})\}$/;

/** The texts that `{a,b}` or `{1..3}` expands to. Undefined for anything more complicated. */
function expandBraces(text: string): readonly string[] | undefined {
  const list = BRACE_LIST.exec(text)?.[1]?.split(",");
  if (list !== undefined) return list.length > MOST_BRACE_WORDS ? undefined : list;
  const range = BRACE_RANGE.exec(text);
  // Leading zeros ask for padding, on which shells differ.
  if (range === null || /^0\d/.test(range[1] ?? "") || /^0\d/.test(range[2] ?? "")) return undefined;
  const [from, to] = [Number(range[1]), Number(range[2])];
  const count = Math.abs(to - from) + 1;
  if (count > MOST_BRACE_WORDS) return undefined;
  return Array.from({ length: count }, (_, index) => String(from + (to > from ? index : -index)));
}

retainShape(new WordBuilder());
