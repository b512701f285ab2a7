import { LIMITS } from "../limits.ts";

/** Expands `{a,b}`, `{1..3}` and `{a..e}`. Undefined when there would be too many words, or text in it is not literal. */
export function expandBraces(text: string): string[] | undefined {
  // Quotes, escapes and expansions inside braces follow rules of their own; such a word counts as unknown.
  if (text.length > 1024 || /["'$`\\]/.test(text)) return undefined;
  const words = expand(text, 0);
  return words === undefined || words.length > LIMITS.braceWords ? undefined : words;
}

function expand(text: string, depth: number): string[] | undefined {
  if (depth > 8) return undefined;
  const group = firstGroup(text);
  if (group === undefined) return [text];
  const { before, items, after } = group;
  const tails = expand(after, depth + 1);
  if (tails === undefined) return undefined;
  const words: string[] = [];
  for (const item of items) {
    const middles = group.range ? [item] : expand(item, depth + 1);
    if (middles === undefined || words.length + middles.length * tails.length > LIMITS.braceWords)
      return undefined;
    for (const middle of middles) for (const tail of tails) words.push(before + middle + tail);
  }
  return words;
}

interface Group {
  readonly before: string;
  readonly items: string[];
  readonly after: string;
  readonly range: boolean;
}

function firstGroup(text: string): Group | undefined {
  for (let open = text.indexOf("{"); open !== -1; open = text.indexOf("{", open + 1)) {
    const items: string[] = [];
    let depth = 0;
    let start = open + 1;
    for (let at = open; at < text.length; at += 1) {
      const char = text[at];
      if (char === "{") depth += 1;
      else if (char === "," && depth === 1) {
        items.push(text.slice(start, at));
        start = at + 1;
      } else if (char === "}") {
        depth -= 1;
        if (depth > 0) continue;
        const body = text.slice(open + 1, at);
        const before = text.slice(0, open);
        const after = text.slice(at + 1);
        if (items.length > 0)
          return { before, items: [...items, text.slice(start, at)], after, range: false };
        const range = expandRange(body);
        if (range !== undefined) return { before, items: range, after, range: true };
        break;
      }
    }
  }
  return undefined;
}

function expandRange(body: string): string[] | undefined {
  const match = /^(-?\d{1,6}|[A-Za-z])\.\.(-?\d{1,6}|[A-Za-z])(?:\.\.(-?\d{1,6}))?$/.exec(body);
  if (match === null) return undefined;
  const [, from = "", to = "", by = "1"] = match;
  const numeric = /\d/.test(from) && /\d/.test(to);
  const first = numeric ? Number(from) : from.charCodeAt(0);
  const last = numeric ? Number(to) : to.charCodeAt(0);
  const step = Math.max(1, Math.abs(Number(by)));
  const count = Math.floor(Math.abs(last - first) / step) + 1;
  // One too many tells the caller that the list is not complete.
  const words = Array.from({ length: Math.min(count, LIMITS.braceWords + 1) }, (_, index) => {
    const value = first + (last < first ? -step : step) * index;
    return numeric ? String(value) : String.fromCharCode(value);
  });
  return words;
}
