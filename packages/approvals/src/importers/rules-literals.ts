/** A literal argument of a call in a `.rules` file. */
export type RulesValue = string | readonly RulesValue[];

export interface RulesCall {
  readonly name: string;
  readonly positional: readonly RulesValue[];
  readonly named: ReadonlyMap<string, RulesValue>;
  readonly source: string;
}

/** A top-level statement: a call with literal arguments, or text that is anything else. */
export type RulesStatement =
  | { readonly kind: "call"; readonly call: RulesCall }
  | { readonly kind: "other"; readonly source: string };

const TOKEN = /[ \t\r\n]+|#[^\n]*|"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'|[A-Za-z_]\w*|[[\](),=]/y;

/** Reads the calls of a `.rules` file that have literal arguments. Everything else of the language stays unread. */
export function readRulesFile(text: string): readonly RulesStatement[] {
  return splitStatements(text).map((source): RulesStatement => {
    const tokens = tokenize(source);
    const call = tokens === undefined ? undefined : new CallReader(tokens, source).read();
    return call === undefined ? { kind: "other", source } : { kind: "call", call };
  });
}

/** A string of either kind of quotes, three of them or one; a comment; a line end behind a backslash. */
const OPAQUE =
  /[rbRB]{0,2}(?:"""(?:[^\\]|\\[^])*?(?:"""|$)|'''(?:[^\\]|\\[^])*?(?:'''|$)|"(?:[^"\\\n]|\\[^])*(?:"|$|(?=\n))|'(?:[^'\\\n]|\\[^])*(?:'|$|(?=\n)))|#[^\n]*|\\\r?\n/y;

/** A statement ends at a line end outside of brackets and strings; indented lines belong to what stands before them. */
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

function tokenize(source: string): readonly string[] | undefined {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.length) {
    const match = TOKEN.exec(source);
    if (match === null) return undefined;
    if (/^[\s#]/.test(match[0])) continue;
    // Two strings side by side are one, and three quotes begin another kind of string.
    if (/^["']/.test(match[0]) && /^["']/.test(tokens.at(-1) ?? "")) return undefined;
    tokens.push(match[0]);
  }
  return tokens;
}

class CallReader {
  readonly #tokens: readonly string[];
  readonly #source: string;
  #at = 0;

  constructor(tokens: readonly string[], source: string) {
    this.#tokens = tokens;
    this.#source = source;
  }

  read(): RulesCall | undefined {
    const name = this.#next();
    if (name === undefined || !/^[a-z_]\w*$/.test(name) || this.#next() !== "(") return undefined;
    const positional: RulesValue[] = [];
    const named = new Map<string, RulesValue>();
    while (this.#peek() !== ")") {
      const key = this.#tokens[this.#at + 1] === "=" ? this.#next() : undefined;
      if (key !== undefined) this.#next();
      const value = this.#readValue();
      if (value === undefined) return undefined;
      if (key === undefined) positional.push(value);
      else if (named.has(key)) return undefined;
      else named.set(key, value);
      if (this.#peek() === ",") this.#next();
      else if (this.#peek() !== ")") return undefined;
    }
    this.#next();
    return this.#at === this.#tokens.length ? { name, positional, named, source: this.#source } : undefined;
  }

  #readValue(): RulesValue | undefined {
    const token = this.#next();
    if (token === undefined) return undefined;
    if (/^["']/.test(token)) return unquote(token);
    if (token !== "[") return undefined;
    const items: RulesValue[] = [];
    while (this.#peek() !== "]") {
      const item = this.#readValue();
      if (item === undefined) return undefined;
      items.push(item);
      if (this.#peek() === ",") this.#next();
      else if (this.#peek() !== "]") return undefined;
    }
    this.#next();
    return items;
  }

  #peek(): string | undefined {
    return this.#tokens[this.#at];
  }

  #next(): string | undefined {
    return this.#tokens[this.#at++];
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\n": "",
  '"': '"',
  "'": "'",
  "\\": "\\",
  n: "\n",
  r: "\r",
  t: "\t",
};

/** @returns undefined for a string with an escape that is not known, such as `\\u0069`. */
function unquote(token: string): string | undefined {
  let isKnown = true;
  const text = token.slice(1, -1).replaceAll(/\\([^])/g, (_, char: string) => {
    const known = ESCAPES[char];
    if (known === undefined) isKnown = false;
    return known ?? "";
  });
  return isKnown ? text : undefined;
}
