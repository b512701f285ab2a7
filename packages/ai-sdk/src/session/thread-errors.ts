import { CodexError } from "codexkit";
import { CodexModelError } from "../errors.ts";

/** Reasons why a thread can't be continued. Its messages move to a new one. */
const GONE = new Set<unknown>(["thread_not_found", "thread_lost", "thread_locked", "closed"]);

export function isGone(error: unknown): boolean {
  return error instanceof CodexError && GONE.has(error.code);
}

/** The same for a resume or a copy, which Codex also rejects with a general error, for example while it closes the thread. */
export function isRefused(error: unknown): boolean {
  return isGone(error) || (error instanceof CodexError && error.code === "request_failed");
}

/** Whether codex exited, or the connection broke, before it accepted a call. */
export function isLost(error: unknown): boolean {
  return (
    error instanceof CodexError && (error.code === "app_server_crashed" || error.code === "connection_lost")
  );
}

/** Whether Codex has no thread with this id. */
export function isNotFound(error: unknown): boolean {
  return error instanceof CodexError && error.code === "thread_not_found";
}

/** A call names a thread that does not exist. */
export function notFound(threadId: string, cause: unknown): CodexModelError {
  return new CodexModelError(
    "thread_unavailable",
    `There is no thread "${threadId}". A thread that was not stored ends with its process, or when it has been idle: set ` +
      "persist: true for threads that are named later. A stored one is found only by a codex with the same home.",
    { cause },
  );
}

/** A call requests a copy of a thread that Codex can't copy. */
export function notStored(threadId: string): CodexModelError {
  return new CodexModelError(
    "thread_unavailable",
    `Thread "${threadId}" can't be forked: Codex copies stored threads only. Set persist: true for the calls that start ` +
      "the thread, or pass its messages without threadId.",
  );
}
