import { uniqueId } from "../unique-id.ts";

/**
 * Set in the environment of every owned process. Codex passes it to its commands, so that commands which left its group and
 * session can still be identified by the random id of their owner, never by a name.
 */
export const OWNER_VARIABLE = "CODEXKIT_OWNER";

/** Returns a new random id for an owned process. */
export function newMark(): string {
  return uniqueId();
}

/**
 * Returns the variable's value for a new mark. A program inside an owned process keeps the marks of its ancestors, because
 * ending the outer codex must also find the inner one.
 */
export function toMarkValue(mark: string, inherited = process.env[OWNER_VARIABLE]): string {
  return inherited ? `${inherited}:${mark}` : mark;
}

/** Whether one of an environment's `NAME=value` entries has the mark. */
export function hasMark(entries: readonly string[], mark: string): boolean {
  const prefix = `${OWNER_VARIABLE}=`;
  return entries.some(
    (entry) => entry.startsWith(prefix) && entry.slice(prefix.length).split(":").includes(mark),
  );
}
