import { usageError } from "../errors/cli-error.ts";
import { revealLine } from "../terminal/sanitize.ts";

/** A shorter prefix of an ID is more likely a mistake. */
const MIN_PREFIX = 4;

/** Rejects an empty ID or name: an unset variable in a script must not select anything. */
export function checkId(text: string, what: string): void {
  if (text.trim() === "") throw usageError(`The ID of the ${what} is empty.`);
}

/** Rejects an ID prefix that is too short. */
export function checkIdPrefix(text: string, what: string): void {
  if (text.length >= MIN_PREFIX) return;
  throw usageError(
    `"${revealLine(text)}" is too short to identify ${what}.`,
    `Pass at least the first ${MIN_PREFIX} characters of the ID.`,
  );
}
