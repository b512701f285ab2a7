import { EXEC_LIMITS } from "../limits.ts";

const QUOTE = 34;
const COLON = 58;
const BACKSLASH = 92;

/**
 * Returns what is wrong with a message that JSON.parse accepted: a duplicate key in an object, too many
 * values, or too much nesting. The parser keeps only the last of two equal keys, so the text then has more
 * colons than the result has members.
 */
export function objectionToJson(text: string, value: unknown): string | undefined {
  const tally = { values: 0, members: 0 };
  if (!count(value, tally, 0)) return "recursion limit exceeded";
  if (tally.values > EXEC_LIMITS.jsonValues) return `more than ${EXEC_LIMITS.jsonValues} JSON values`;
  if (countColons(text) !== tally.members) return "duplicate JSON object key";
  return undefined;
}

function count(value: unknown, tally: { values: number; members: number }, depth: number): boolean {
  tally.values += 1;
  if (typeof value !== "object" || value === null) return true;
  if (depth >= EXEC_LIMITS.jsonDepth) return false;
  if (tally.values > EXEC_LIMITS.jsonValues) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (!count(item, tally, depth + 1)) return false;
    return true;
  }
  for (const key in value) {
    tally.members += 1;
    if (!count((value as Record<string, unknown>)[key], tally, depth + 1)) return false;
  }
  return true;
}

/** Counts the colons outside strings: one per member in the text. */
function countColons(text: string): number {
  let colons = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === COLON) colons += 1;
    else if (code === QUOTE) at = endOfString(text, at);
  }
  return colons;
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}
