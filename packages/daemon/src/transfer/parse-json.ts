/**
 * Maximum nesting of objects and arrays. Codex reads and writes at most 128 levels. `JSON.stringify` fails at some
 * thousands of levels, which would make a stored value unreadable.
 */
const MAX_LEVELS = 500;

/** Parses JSON that can be serialised again. Throws a `SyntaxError` otherwise. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // A level has at least two characters, so most texts don't need to be checked.
  if (text.length > 2 * MAX_LEVELS && isNestedTooDeep(value)) {
    throw new SyntaxError(`The JSON has more than ${MAX_LEVELS} levels.`);
  }
  return value;
}

function isNestedTooDeep(value: unknown): boolean {
  let level = [value].filter(isContainer);
  for (let count = 0; level.length > 0; count += 1) {
    if (count === MAX_LEVELS) return true;
    level = level.flatMap((container) => Object.values(container).filter(isContainer));
  }
  return false;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
