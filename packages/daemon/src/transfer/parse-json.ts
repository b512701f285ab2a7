/**
 * Levels of objects and arrays. Codex itself reads and writes at most 128; `JSON.stringify` fails at some thousands, which would
 * make a stored value unreadable.
 */
const MAX_LEVELS = 500;

/** Parses JSON that can be written again. Throws a `SyntaxError` otherwise. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  // A level takes two characters, so that most texts need no further look.
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
