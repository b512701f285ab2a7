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
  /** The value of `$PWD`, if there is only one. */
  readonly folder: string | undefined;
  readonly variables: ReadonlyMap<string, Word>;
  readonly budget: WorkBudget;
  /** Reads the script of a substitution, which must be understood itself. */
  readonly readSubstitution: (script: ParsedScript) => void;
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
  if (node.parts === undefined && PLAIN_WORD.test(node.text)) return { text: node.text };
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

/** A word that must be one word with a known text: the target of a redirection or of `cd`. */
export function readLiteral(node: Node, scope: WordScope, what: string): Word {
  const word = readWord(node, scope);
  if (word.expanded !== undefined || word.text === undefined || word.isGlob === true)
    notPlain(`${what} ${node.text}`);
  return word;
}

/** @param braces The replacement of each brace expansion. Empty: the expansions as they are written. */
function assemble(parts: readonly WordPart[], scope: WordScope, braces: readonly string[]): Word {
  const word = new WordBuilder();
  let used = 0;
  for (const [index, part] of parts.entries()) {
    const brace = part.type === "BraceExpansion" ? braces[used++] : undefined;
    addPart(word, part, scope, brace, index === 0);
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

function addPart(
  word: WordBuilder,
  part: WordPart,
  scope: WordScope,
  brace: string | undefined,
  isFirst: boolean,
): void {
  switch (part.type) {
    case "Literal":
      return addLiteral(word, part, scope, isFirst);
    case "SingleQuoted":
      return word.addText(part.value, true);
    case "DoubleQuoted":
      word.addText("", true);
      for (const child of part.parts) addQuoted(word, child, scope);
      return undefined;
    case "AnsiCQuoted":
      // dash takes the dollar sign literally, and shells differ in the rarer escapes.
      if (scope.dialect === "unknown" || /\\[^nt\\'"]/.test(part.text)) notPlain(`the quoting ${part.text}`);
      return word.addText(part.value, true);
    case "SimpleExpansion":
    case "ParameterExpansion":
      return word.addVariable(chargedVariable(part, scope), false);
    case "CommandExpansion":
      return addSubstitution(word, part, scope, false);
    case "Glob":
      if (part.kind === "bracket" && /[/'"$`\\]/.test(part.text)) notPlain(`the pattern ${part.text}`);
      return word.addGlob(part.value);
    case "BraceExpansion":
      return word.addText(brace ?? part.text, false);
    case "ArithmeticExpansion":
      return notPlain(`the arithmetic ${part.text}`);
    default:
      return notPlain(`the expansion ${part.text}`);
  }
}

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

type QuotedChild = Extract<WordPart, { readonly type: "DoubleQuoted" }>["parts"][number];

function addQuoted(word: WordBuilder, part: QuotedChild, scope: WordScope): void {
  switch (part.type) {
    case "Literal":
      if (CONTROL.test(part.value)) notPlain("a control character");
      return word.addText(part.value, true);
    case "SimpleExpansion":
    case "ParameterExpansion":
      return word.addVariable(chargedVariable(part, scope), true);
    case "CommandExpansion":
      return addSubstitution(word, part, scope, true);
    default:
      return notPlain(`the expansion ${part.text}`);
  }
}

type Expansion = Extract<WordPart, { readonly type: "SimpleExpansion" | "ParameterExpansion" }>;

/** A value is paid for wherever it is used, so that values made of values can't grow without end. */
function chargedVariable(part: Expansion, scope: WordScope): Word {
  const value = readVariable(part, scope);
  if (!scope.budget.addWords(0, value.text?.length ?? 0)) notPlain("a script this long");
  return value;
}

/** The value of a variable. Anything more than `$name` and `${name}` is not understood. */
export function readVariable(part: Expansion, scope: WordScope): Word {
  const name = /^\$(?:\{(\w+)\}|(\w+|[?$!#]))$/.exec(part.text);
  if (name === null) notPlain(`the expansion ${part.text}`);
  const variable = name[1] ?? name[2] ?? "";
  const own = scope.variables.get(variable);
  if (own !== undefined) return own;
  if (variable === "HOME") return { text: scope.home };
  if (variable === "PWD") return { text: scope.folder ?? notPlain("$PWD after a cd that may fail") };
  // A number, so it never splits.
  if (/^[?$!#]$/.test(variable)) return { text: undefined, maySplit: false };
  if (isInherited(variable)) return { text: undefined };
  return notPlain(`the variable ${part.text}`);
}

type Substitution = Extract<WordPart, { readonly type: "CommandExpansion" }>;

function addSubstitution(word: WordBuilder, part: Substitution, scope: WordScope, isQuoted: boolean): void {
  const { script, text } = part;
  // Backticks have quoting rules of their own.
  if (!text.startsWith("$(") || script === undefined || script.errors !== undefined)
    notPlain(`the substitution ${text}`);
  if (/^\$\(\s*pwd\s*\)$/.test(text) && scope.folder !== undefined)
    return word.addVariable({ text: scope.folder }, isQuoted);
  scope.readSubstitution(script);
  return word.addUnknown(isQuoted);
}

/** The text of a here-document, or undefined if it is only known at run time. Its substitutions must be understood. */
export function readHereDocumentText(
  body: { readonly text: string; readonly parts: readonly WordPart[] | undefined },
  scope: WordScope,
): string | undefined {
  // Reading the parts of a long document costs more than everything else: most have none.
  if (!/[$`\\]/.test(body.text) || body.parts === undefined) return body.text;
  let text: string | undefined = "";
  for (const part of body.parts) {
    if (part.type === "Literal") {
      if (text !== undefined) text += part.value;
    } else if (part.type === "SimpleExpansion" || part.type === "ParameterExpansion") {
      // Any variable may be printed: nothing but its text gets into the document.
      if (!/^\$(?:\{\w+\}|\w+|[?$!#])$/.test(part.text)) notPlain(`the expansion ${part.text}`);
      text = undefined;
    } else if (part.type === "CommandExpansion") {
      if (!part.text.startsWith("$(") || part.script === undefined || part.script.errors !== undefined)
        notPlain(`the substitution ${part.text}`);
      scope.readSubstitution(part.script);
      text = undefined;
    } else notPlain(`the expansion ${part.text}`);
  }
  return text;
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
