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

const TOKEN = /[ \t\r\n]+|#[^\n]*|\\\n|"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'|[A-Za-z_]\w*|[[\](),=]/y;

/** Reads the calls of a `.rules` file that have literal arguments. Everything else of the language stays unread. */
export function readRulesFile(text: string): readonly RulesStatement[] {
  return splitStatements(text).map((source): RulesStatement => {
    const tokens = tokenize(source);
    const call = tokens === undefined ? undefined : new CallReader(tokens, source).read();
    return call === undefined ? { kind: "other", source } : { kind: "call", call };
  });
}

/** A statement ends at a line end outside of brackets; indented lines belong to what stands before them. */
function splitStatements(text: string): readonly string[] {
  const statements: string[] = [];
  let current = "";
  let depth = 0;
  for (const line of text.split("\n")) {
    if (depth === 0 && !/^[ \t]/.test(line)) {
      if (current.trim() !== "") statements.push(current.trim());
      current = "";
    }
    current += `${line}\n`;
    depth += depthOf(line);
  }
  if (current.trim() !== "") statements.push(current.trim());
  return statements.filter((statement) => !statement.split("\n").every((line) => /^\s*(?:#|$)/.test(line)));
}

function depthOf(line: string): number {
  const bare = line.replaceAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, "").replace(/#.*$/, "");
  return (bare.match(/[([{]/g)?.length ?? 0) - (bare.match(/[)\]}]/g)?.length ?? 0);
}

function tokenize(source: string): readonly string[] | undefined {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.length) {
    const match = TOKEN.exec(source);
    if (match === null) return undefined;
    if (!/^[\s#\\]/.test(match[0])) tokens.push(match[0]);
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

function unquote(token: string): string {
  return token.slice(1, -1).replaceAll(/\\([^])/g, (_, char: string) => {
    const known: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };
    return known[char] ?? char;
  });
}
