/** A literal argument. */
export type RulesValue = string | readonly RulesValue[];

/** A top-level statement: a call with literal arguments, or text that is anything else. */
export interface RulesStatement {
  readonly source: string;
  readonly call?: RulesCall | undefined;
}

export interface RulesCall {
  readonly name: string;
  /** By name; positional ones by their index. */
  readonly args: Readonly<Record<string, RulesValue>>;
}

/** A blank, a comment, a string, the name of an argument, a bracket or a comma: all that literal arguments consist of. */
const TOKEN = /[ \t\r\n]|#[^\n]*|"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'|[A-Za-z_]\w*\s*=|[[\],]/g;
const CALL = new RegExp(
  String.raw`([a-z_]\w*)\s*\(((?:${TOKEN.source})*)\)[ \t]*(?:#[^\n]*)?(?=\r?\n|$)`,
  "y",
);
/** Lines that are blank or a comment. */
const NOTHING = /(?:[ \t]*(?:#[^\n]*)?\r?\n)*(?:[ \t]*(?:#[^\n]*)?$)?/y;
/** Up to the next line that does not continue a statement. */
const OTHER = /[^]+?(?=\r?\n[^\s)\]}#]|$)/y;

/**
 * Reads the calls of a `.rules` file that have literal arguments. Everything else of the language stays unread, and may be
 * split in the middle: the importer trusts no permission of a file with such text.
 */
export function readRulesFile(text: string): readonly RulesStatement[] {
  const statements: RulesStatement[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    at += match?.[0].length ?? 0;
    return match;
  };
  while (take(NOTHING) !== null && at < text.length) {
    const start = at;
    const [, name = "", list] = take(CALL) ?? [];
    const args = list === undefined ? undefined : readArguments(list);
    if (list === undefined) take(OTHER);
    const source = text.slice(start, at).trim();
    statements.push(args === undefined ? { source } : { source, call: { name, args } });
  }
  return statements;
}

/** Literal arguments are rewritten as JSON, which has the same strings and lists. A name becomes an object before its value. */
function readArguments(text: string): RulesCall["args"] | undefined {
  let json = "";
  for (const [token] of `${text}]`.matchAll(TOKEN)) {
    // A comma may follow the last item.
    if (token === "]" && json.endsWith(",")) json = json.slice(0, -1);
    if (/^["']/.test(token)) json += toJson(token);
    else if (token.endsWith("=")) json += `{"name":"${token.slice(0, -1).trim()}"},`;
    else if (/^[[\],]/.test(token)) json += token;
  }
  const items = parseList(`[${json}`);
  const args: Record<string, RulesValue> = {};
  let name: string | undefined;
  let index = 0;
  for (const item of items ?? []) {
    const isName = typeof item === "object" && "name" in item;
    if (isName && name !== undefined) return undefined;
    const key = name ?? String(index);
    if (isName) ({ name } = item);
    else if (Object.hasOwn(args, key)) return undefined;
    else {
      args[key] = item;
      if (name === undefined) index += 1;
      name = undefined;
    }
  }
  return items === undefined || name !== undefined ? undefined : args;
}

/** @returns text that is no JSON for a string with an escape that is not known, such as `\x69`. */
function toJson(token: string): string {
  const text = token.slice(1, -1);
  if (/\\[^\n"'\\nrt]/.test(text.replaceAll("\\\\", ""))) return "unknown";
  const known: Readonly<Record<string, string>> = { "\n": "", n: "\n", r: "\r", t: "\t" };
  return JSON.stringify(text.replaceAll(/\\([^])/g, (_, char: string) => known[char] ?? char));
}

function parseList(text: string): readonly (RulesValue | { readonly name: string })[] | undefined {
  try {
    return JSON.parse(text) as readonly RulesValue[];
  } catch {
    return undefined;
  }
}
