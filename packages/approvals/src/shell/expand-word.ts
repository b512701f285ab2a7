import type { DoubleQuotedChild, ParameterExpansionPart, Word, WordPart } from "unbash";
import { LIMITS } from "../limits.ts";
import { expandBraces } from "./brace-expansion.ts";
import { knownOutput } from "./known-output.ts";
import type { Scope } from "./scope.ts";
import { plainValue, UNKNOWN, UNKNOWN_VALUE, type Value } from "./value.ts";

/** The arguments that one word turns into: usually one, several with braces and split variables, sometimes none. */
export function expandWord(word: Word, scope: Scope): Value[] {
  if (word.parts === undefined) return [literalWord(word, scope)];
  // No word that is meant to be read has so many pieces.
  if (word.parts.length > LIMITS.wordParts) return [UNKNOWN_VALUE];
  const [only] = word.parts;
  if (word.parts.length === 1 && only !== undefined) {
    const positional = positionalParameters(only, scope);
    if (positional !== undefined) return positional;
  }
  const fields = new Fields();
  for (const [index, part] of word.parts.entries()) appendPart(fields, part, index === 0, scope);
  return fields.values(isPlainWord(word));
}

/** One text for places where no splitting happens: assignments, here-strings, redirections. */
export function expandToOne(word: Word | undefined, scope: Scope): Value {
  if (word === undefined) return UNKNOWN_VALUE;
  const values = expandWord(word, scope);
  const [first] = values;
  if (values.length === 1 && first !== undefined) return first;
  return { text: values.map(({ text }) => text).join(" "), plain: false, glob: false, splits: false };
}

/** The body of a here-document. */
export function expandParts(parts: readonly WordPart[], scope: Scope): string {
  return parts.map((part) => quotedText(part as DoubleQuotedChild, scope)).join("");
}

/** Written without any trick: bare text, or one pair of quotes around all of it. */
export function isPlainWord(word: Word): boolean {
  if (word.parts === undefined) return word.text === word.value;
  const [only] = word.parts;
  if (word.parts.length !== 1 || only === undefined) return false;
  if (only.type === "SingleQuoted") return true;
  return (
    only.type === "DoubleQuoted" &&
    only.parts.every((part) => part.type === "Literal" && part.text === part.value)
  );
}

/** One argument while it is put together. */
interface Field {
  text: string;
  glob: boolean;
  splits: boolean;
  /** Quotes make an argument of nothing: `""` is one, an empty `$X` is none. */
  quoted: boolean;
}

/** A word while it is read: arguments that are complete, and those (several after a brace) that still grow. */
class Fields {
  done: Field[] = [];
  open: Field[] = [{ text: "", glob: false, splits: false, quoted: false }];

  append(text: string): void {
    for (const field of this.open) field.text += text;
  }

  mark(what: "glob" | "splits" | "quoted"): void {
    for (const field of this.open) field[what] = true;
  }

  /** White space in an unquoted expansion ends one argument and begins the next. */
  appendSplit(text: string): void {
    const [first = "", ...more] = text.split(/\s+/);
    this.append(first);
    for (const piece of more) {
      this.done.push(...this.open);
      this.open = [{ text: piece, glob: false, splits: false, quoted: false }];
    }
  }

  multiply(words: readonly string[]): void {
    this.open = this.open.flatMap((field) => words.map((word) => ({ ...field, text: field.text + word })));
    if (this.open.length > LIMITS.braceWords)
      this.open = [{ text: UNKNOWN, glob: false, splits: true, quoted: false }];
  }

  values(plain: boolean): Value[] {
    return [...this.done, ...this.open]
      .filter(({ text, quoted }) => text !== "" || quoted)
      .map(({ text, glob, splits }) => ({ text, plain, glob, splits }));
  }
}

function literalWord(word: Word, scope: Scope): Value {
  const plain = word.text === word.value;
  if (word.text.startsWith("~")) return { ...plainValue(expandTilde(word.value, scope)), plain };
  return plain ? plainValue(word.value) : { text: word.value, plain: false, glob: false, splits: false };
}

function expandTilde(text: string, scope: Scope): string {
  const slash = text.indexOf("/");
  const user = slash === -1 ? text.slice(1) : text.slice(1, slash);
  const rest = slash === -1 ? "" : text.slice(slash);
  if (user === "") return scope.places.home + rest;
  if (user === "+") return scope.cwd() + rest;
  if (user === "-") return UNKNOWN + rest;
  return /^[A-Za-z_][\w.-]*$/.test(user) ? `/~${user}${rest}` : text;
}

function positionalParameters(part: WordPart, scope: Scope): Value[] | undefined {
  const inner = part.type === "DoubleQuoted" && part.parts.length === 1 ? part.parts[0] : part;
  if (inner?.type !== "SimpleExpansion" || (inner.text !== "$@" && inner.text !== "$*")) return undefined;
  const values: Value[] = [];
  for (let number = 1; number < 64; number += 1) {
    const value = scope.lookup(String(number));
    if (value === undefined) break;
    values.push({ ...value, plain: false });
  }
  return values.length === 0 ? [UNKNOWN_VALUE] : values;
}

function appendPart(fields: Fields, part: WordPart, first: boolean, scope: Scope): void {
  switch (part.type) {
    case "Literal":
      fields.append(first && part.text.startsWith("~") ? expandTilde(part.value, scope) : part.value);
      return;
    case "Glob":
    case "ExtendedGlob":
      fields.append(part.text);
      fields.mark("glob");
      return;
    case "SingleQuoted":
    case "AnsiCQuoted":
      fields.append(part.value);
      fields.mark("quoted");
      return;
    case "DoubleQuoted":
    case "LocaleString":
      fields.mark("quoted");
      if (part.parts.length > LIMITS.wordParts) {
        fields.append(UNKNOWN);
        return;
      }
      for (const child of part.parts) fields.append(quotedText(child, scope));
      return;
    case "BraceExpansion":
      appendBraces(fields, part.text);
      return;
    case "ProcessSubstitution":
      // What bash really passes: the name of a pipe.
      fields.append("/dev/fd/63");
      return;
    default:
      appendExpansion(fields, expansionValue(part, scope));
  }
}

function appendBraces(fields: Fields, text: string): void {
  const words = expandBraces(text);
  if (words !== undefined) {
    fields.multiply(words);
    return;
  }
  fields.append(UNKNOWN);
  fields.mark("splits");
}

/** An unquoted expansion is split at white space: `$X` with `-rf /` in it is two arguments. */
function appendExpansion(fields: Fields, value: Value): void {
  if (value.text.includes(UNKNOWN)) fields.mark("splits");
  if (value.glob || /[*?[]/.test(value.text)) fields.mark("glob");
  fields.appendSplit(value.text);
}

function quotedText(part: DoubleQuotedChild, scope: Scope): string {
  return part.type === "Literal" ? part.value : expansionValue(part, scope).text;
}

function expansionValue(part: Exclude<DoubleQuotedChild, { type: "Literal" }>, scope: Scope): Value {
  switch (part.type) {
    case "SimpleExpansion":
      return variable(part.text.slice(1), scope);
    case "ParameterExpansion":
      return parameter(part, scope);
    case "CommandExpansion":
      return knownOutput(part.script, scope, expandWord) ?? UNKNOWN_VALUE;
    default:
      return UNKNOWN_VALUE;
  }
}

function variable(name: string, scope: Scope): Value {
  // The separator itself: `rm${IFS}-rf` is two words.
  if (name === "IFS") return { ...UNKNOWN_VALUE, text: " " };
  return scope.lookup(name) ?? UNKNOWN_VALUE;
}

function parameter(part: ParameterExpansionPart, scope: Scope): Value {
  const { operation, prefix, index, parameter: name } = part;
  if (prefix === "#") return { ...UNKNOWN_VALUE, text: "0" };
  if (prefix === "!") return UNKNOWN_VALUE;
  if (operation === undefined) return index === undefined ? variable(name, scope) : UNKNOWN_VALUE;
  if (operation.type !== "Default") return UNKNOWN_VALUE;
  // `${X:-y}`: the value if there is one, else the word. With `+` the word or nothing. The word is the likely danger.
  const known =
    operation.operator.endsWith("+") || operation.operator.endsWith("?") ? undefined : scope.lookup(name);
  const operand = operation.operator.endsWith("?") ? UNKNOWN_VALUE : expandToOne(operation.operand, scope);
  return { ...(known ?? operand), plain: false };
}
