import { randomUUID } from "node:crypto";

/**
 * Set in the environment of every owned process. Codex hands it on to the commands it runs, so that those which left
 * its group and session can still be told by the random id of their owner, never by a name.
 */
export const OWNER_VARIABLE = "CODEXKIT_OWNER";

/** A new random id for one owned process. */
export function newMark(): string {
  return randomUUID();
}

/**
 * The variable's value for a new mark. A program that itself runs inside an owned process keeps the marks of those
 * above it: ending the outer codex must find the inner one too.
 */
export function markValue(mark: string, inherited = process.env[OWNER_VARIABLE]): string {
  return inherited ? `${inherited}:${mark}` : mark;
}

/** Whether one of an environment's `NAME=value` entries carries the mark. */
export function carriesMark(entries: readonly string[], mark: string): boolean {
  const prefix = `${OWNER_VARIABLE}=`;
  return entries.some(
    (entry) => entry.startsWith(prefix) && entry.slice(prefix.length).split(":").includes(mark),
  );
}
