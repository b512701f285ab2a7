/** A literal argument of a call in a `.rules` file. */
export type RulesValue = string | readonly RulesValue[];

/** A top-level statement: a call with literal arguments, or text that is anything else. */
export interface RulesStatement {
  readonly source: string;
  /** Arguments by name; positional ones by their index. */
  readonly call?: { readonly name: string; readonly args: Readonly<Record<string, RulesValue>> } | undefined;
}

/** Reads the calls of a `.rules` file that have literal arguments. Everything else of the language stays unread. */
export function readRulesFile(text: string): readonly RulesStatement[] {
  return splitStatements(text).map((source) => ({ source, call: readCall(source) }));
}

/** A string of either kind of quotes, three of them or one; a comment; a line end behind a backslash. */
const OPAQUE =
  /[rbRB]{0,2}(?:"""(?:[^\\]|\\[^])*?(?:"""|$)|'''(?:[^\\]|\\[^])*?(?:'''|$)|"(?:[^"\\\n]|\\[^])*(?:"|$|(?=\n))|'(?:[^'\\\n]|\\[^])*(?:'|$|(?=\n)))|#[^\n]*|\\\r?\n/y;

/** A statement ends at a line end outside of brackets and strings; indented lines continue the statement before them. */
function splitStatements(text: string): readonly string[] {
  const statements: string[] = [];
  let start = 0;
  let depth = 0;
  let at = 0;
  while (at < text.length) {
    OPAQUE.lastIndex = at;
    const opaque = OPAQUE.exec(text)?.[0] ?? "";
    if (opaque !== "") {
      at += opaque.length;
      continue;
    }
    const char = text.charAt(at);
    at += 1;
    if ("([{".includes(char)) depth += 1;
    else if (")]}".includes(char)) depth -= 1;
    else if (char === "\n" && depth <= 0 && !/[ \t]/.test(text.charAt(at))) {
      statements.push(text.slice(start, at).trim());
      start = at;
      depth = 0;
    }
  }
  statements.push(text.slice(start).trim());
  return statements.filter((statement) => !statement.split("\n").every((line) => /^\s*(?:#|$)/.test(line)));
}

const CALL = /^([a-z_]\w*)\s*\(([^]*)\)\s*(?:#[^\n]*)?$/;
const TOKEN = /[ \t\r\n]+|#[^\n]*|"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'|[A-Za-z_]\w*(?=\s*=)|[[\],=]/y;

/** Literal arguments are rewritten as JSON, which has the same strings and lists. */
function readCall(source: string): RulesStatement["call"] {
  const [, name = "", text] = CALL.exec(source) ?? [];
  const tokens = text === undefined ? undefined : tokenize(text);
  if (tokens === undefined) return undefined;
  const args: Record<string, RulesValue> = {};
  let index = 0;
  for (const argument of splitArguments(tokens)) {
    const isNamed = argument[1] === "=";
    const key = isNamed ? (argument[0] ?? "") : String(index++);
    const value = parseJson(
      argument
        .slice(isNamed ? 2 : 0)
        .join("")
        .replaceAll(",]", "]"),
    );
    if (!isValue(value) || Object.hasOwn(args, key)) return undefined;
    args[key] = value;
  }
  return { name, args };
}

/** @returns the tokens, with strings as in JSON. Undefined if there is anything but literals in the text. */
function tokenize(text: string): readonly string[] | undefined {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const token = TOKEN.exec(text)?.[0];
    if (token === undefined) return undefined;
    if (/^[\s#]/.test(token)) continue;
    const json = /^["']/.test(token) ? toJson(token) : token;
    // Two strings side by side are one, and three quotes begin another kind of string.
    if (json === undefined || (json.startsWith('"') && tokens.at(-1)?.startsWith('"') === true))
      return undefined;
    tokens.push(json);
  }
  return tokens;
}

/** @returns undefined for a string with an escape that is not known, such as `\x69`. */
function toJson(token: string): string | undefined {
  const text = token.slice(1, -1);
  if (/\\[^\n"'\\nrt]/.test(text.replaceAll("\\\\", ""))) return undefined;
  const known: Readonly<Record<string, string>> = { "\n": "", n: "\n", r: "\r", t: "\t" };
  return JSON.stringify(text.replaceAll(/\\([^])/g, (_, char: string) => known[char] ?? char));
}

/** Splits at commas outside of lists. One comma may follow the last argument. */
function splitArguments(tokens: readonly string[]): readonly (readonly string[])[] {
  const all: string[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (token === "[") depth += 1;
    if (token === "]") depth -= 1;
    if (token === "," && depth === 0) all.push([]);
    else all.at(-1)?.push(token);
  }
  return all.at(-1)?.length === 0 ? all.slice(0, -1) : all;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isValue(value: unknown): value is RulesValue {
  return typeof value === "string" || (Array.isArray(value) && value.every(isValue));
}
