import type { ParsedScript, Word as Node, WordPart } from "unbash";
import type { Word } from "../programs/declaration/word.ts";
import { notPlain, type Dialect } from "./plain-script.ts";
import { isInherited } from "../programs/declaration/script-variables.ts";
import type { WorkBudget } from "../limits.ts";

export interface WordScope {
  readonly dialect: Dialect;
  /** Whether brace lists are expanded. dash does not expand them. */
  readonly expandsBraces: boolean;
  readonly home: string;
  /** The folders that the shell may be in. `$PWD` is known if there is only one. */
  readonly folders: readonly string[];
  readonly variables: ReadonlyMap<string, Word>;
  readonly budget: WorkBudget;
  readonly readSubstitution: (script: ParsedScript, scope: WordScope) => void;
}

/** Unquoted characters that shells treat differently, or that a reader does not see: control characters and unusual blanks. */
const UNUSUAL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/u;
const CONTROL = /[^\P{Cc}\t\n]/u;
const MOST_BRACE_WORDS = 64;
const GLOB_CHARS = /[*?[\]\\]/;
const PLAIN_WORD = /^[\w./:@%+,-]+$/;

export function readWords(node: Node, scope: WordScope): readonly Word[] {
  // Most words have no quotes, expansions or patterns.
  if (PLAIN_WORD.test(node.text)) return [{ text: node.text }];
  const parts: readonly WordPart[] = node.parts ?? [
    { type: "Literal", value: node.value, text: node.text, pos: node.pos, end: node.end },
  ];
  // `{a,b}{c,d}` expands to every combination. The last list changes fastest.
  let variants = [parts];
  for (const [at, { type, text, pos, end }] of parts.entries()) {
    if (type !== "BraceExpansion" || !scope.expandsBraces) continue;
    const items = expandBraces(text);
    if (items === undefined || items.length * variants.length > MOST_BRACE_WORDS)
      notPlain(`the list ${text}`);
    variants = variants.flatMap((before) =>
      items.map((value) => before.with(at, { type: "Literal", value, text: value, pos, end })),
    );
  }
  return variants.map((variant) => {
    const word = new WordBuilder();
    for (const [index, part] of variant.entries()) {
      if (part.type === "BraceExpansion") word.addText(part.text, false);
      else if (part.type === "Literal") addLiteral(word, part, scope, index === 0);
      else addPart(word, part, scope, false);
    }
    return word.build();
  });
}

/** The words that a shell without brace lists reads. Undefined if they are the same. */
export function withoutBraces(nodes: readonly Node[], scope: WordScope): readonly Word[] | undefined {
  const hasBraces = nodes.some(({ parts }) => parts?.some(({ type }) => type === "BraceExpansion"));
  if (!hasBraces || scope.dialect !== "unknown") return undefined;
  return nodes.flatMap((node) => readWords(node, { ...scope, expandsBraces: false }));
}

export function readOneWord(node: Node, scope: WordScope, what: string): Word {
  const [word, ...others] = readWords(node, scope);
  return word === undefined || others.length > 0 || word.isGlob === true ? notPlain(what) : word;
}

class WordBuilder {
  static readonly kept = new WordBuilder();
  #text: string | undefined = "";
  #isGlob = false;
  #hasGlobChars = false;
  #maySplit = false;
  #isQuoted = false;

  addText(text: string, isQuoted: boolean): void {
    if (text.includes("\0")) notPlain("a NUL character");
    this.#isQuoted ||= isQuoted;
    this.#hasGlobChars ||= GLOB_CHARS.test(text);
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

  addVariable({ text, isGlob = false, maySplit }: Word, isQuoted: boolean): void {
    this.#isQuoted ||= isQuoted;
    // An unquoted value is split at blanks, and its wildcards are expanded again.
    const isPlain = isQuoted || (!isGlob && text !== "" && !/[\s*?[\]\\]/.test(text ?? ""));
    if (text === undefined || !isPlain)
      this.addUnknown(isQuoted || (text === undefined && maySplit === false));
    else if (isGlob) this.addGlob(text);
    else this.addText(text, isQuoted);
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

type Literal = Pick<Node, "text" | "value">;

function addLiteral(word: WordBuilder, { text, value }: Literal, scope: WordScope, isFirst: boolean): void {
  if (UNUSUAL.test(text.replaceAll("\\\n", ""))) notPlain("an unusual character");
  // Brace expansions are separate parts. The rest of a list could still be one in another shell.
  if (/\{[^}]*(?:,|\.\.)|,[^{]*\}/.test(text) && !text.includes("\\{")) notPlain(`the braces in ${text}`);
  // A bracket that does not end here may end in a quoted part after it.
  if (text !== "[" && /(?<!\\)\[/.test(text)) notPlain(`the bracket in ${text}`);
  if (/[=:]~/.test(text)) notPlain(`the tilde in ${text}`);
  if (!isFirst) return word.addText(value, false);
  // zsh replaces `=name` with the path of a program.
  if (text.startsWith("=")) notPlain(`the word ${text}`);
  if (!text.startsWith("~")) return word.addText(value, false);
  if (!/^~(?:\/|$)/.test(text)) notPlain(`the folder ${text}`);
  return word.addText(scope.home + value.slice(1), true);
}

type Expansion = Extract<WordPart, { readonly type: "SimpleExpansion" | "ParameterExpansion" }>;

function readVariable(part: Expansion, scope: WordScope): Word {
  const name = variableName(part);
  const value = scope.variables.get(name) ?? inheritedValue(name, scope);
  // Spends budget on every use, so that values made of values can't grow without bound.
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
  // Backticks have their own quoting rules.
  if (!text.startsWith("$(") || script === undefined || script.errors !== undefined)
    notPlain(`the substitution ${text}`);
  if (/^\$\(\s*pwd\s*\)$/.test(text) && scope.folders.length === 1)
    return word.addVariable({ text: scope.folders[0] }, isQuoted);
  scope.readSubstitution(script, scope);
  return word.addUnknown(isQuoted);
}

/** The text of a here-document. Undefined if it is known only at run time. Its substitutions must be understood. */
export function readHereDocumentText(
  body: Pick<Node, "text" | "parts">,
  scope: WordScope,
): string | undefined {
  // Reading the parts of a long document costs more than everything else, and most documents have none.
  if (!/[$`\\]/.test(body.text) || body.parts === undefined) return body.text;
  const text = new WordBuilder();
  for (const part of body.parts) {
    if (part.type === "Literal") text.addText(part.value, true);
    else if (part.type === "CommandExpansion") addSubstitution(text, part, scope, true);
    else {
      const isVariable = part.type === "SimpleExpansion" || part.type === "ParameterExpansion";
      // Any variable is fine, because only its text gets into the document.
      if (!isVariable || variableName(part) === "") notPlain(`the expansion ${part.text}`);
      text.addUnknown(true);
    }
  }
  return text.build().text;
}

const BRACE_LIST = /^\{([\w./@+%:-]*(?:,[\w./@+%:-]*)+)\}$/;
const BRACE_RANGE = /^\{(0|[1-9]\d{0,3})\.\.(0|[1-9]\d{0,3})\}$/;

/** The texts that `{a,b}` or `{1..3}` expands to. Undefined for anything more complicated. */
function expandBraces(text: string): readonly string[] | undefined {
  const list = BRACE_LIST.exec(text)?.[1]?.split(",");
  // Leading zeros request padding, in which shells differ.
  const [, from, to] = BRACE_RANGE.exec(text) ?? [];
  if (list !== undefined || from === undefined || to === undefined) return list;
  const count = Math.abs(Number(to) - Number(from)) + 1;
  const step = Number(to) > Number(from) ? 1 : -1;
  return Array.from({ length: count }, (_, index) => String(Number(from) + step * index));
}
