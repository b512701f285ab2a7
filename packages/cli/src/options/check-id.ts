import { usageError } from "../errors/cli-error.ts";
import { revealLine } from "../terminal/sanitize.ts";

/** A shorter beginning of an ID is more likely a mistake than a choice. */
const MIN_PREFIX = 4;

/** Rejects an empty ID or name: an unset variable of a script must not choose anything. */
export function checkId(text: string, what: string): void {
  if (text.trim() === "") throw usageError(`The ID of the ${what} is empty.`);
}

/** Rejects a beginning of an ID that is too short. */
export function checkIdPrefix(text: string, what: string): void {
  if (text.length >= MIN_PREFIX) return;
  throw usageError(
    `"${revealLine(text)}" is too short for the beginning of the ID of ${what}.`,
    `Pass ${MIN_PREFIX} characters or more.`,
  );
}
