import { CodexError } from "codexkit";
import { CodexModelError } from "../errors.ts";

/** Codes that mean that a thread can't be continued. Its messages move to a new thread. */
const GONE = new Set<unknown>(["thread_not_found", "thread_lost", "thread_locked", "closed"]);

export function isGone(error: unknown): boolean {
  return error instanceof CodexError && GONE.has(error.code);
}

/** Like `isGone`, for resumes and copies. Codex also rejects those with a general error, such as while it closes the thread. */
export function isRefused(error: unknown): boolean {
  return isGone(error) || (error instanceof CodexError && error.code === "request_failed");
}

/** Whether codex exited or the connection broke before codex accepted a call. */
export function isLost(error: unknown): boolean {
  return (
    error instanceof CodexError && (error.code === "app_server_crashed" || error.code === "connection_lost")
  );
}

/** Whether Codex has no thread with this id. */
export function isNotFound(error: unknown): boolean {
  return error instanceof CodexError && error.code === "thread_not_found";
}

/** The error for a call that names a thread that does not exist. */
export function notFound(threadId: string, cause: unknown): CodexModelError {
  return new CodexModelError(
    "thread_unavailable",
    `There is no thread "${threadId}". A thread that is not stored ends with its process or after an idle period; set ` +
      "persist: true for threads that are named later. Only a codex with the same home can find a stored thread.",
    { cause },
  );
}

/** The error for a call that forks a thread that Codex can't copy. */
export function notStored(threadId: string): CodexModelError {
  return new CodexModelError(
    "thread_unavailable",
    `Thread "${threadId}" can't be forked, because Codex copies only stored threads. Set persist: true for the calls that start ` +
      "the thread, or pass its messages without threadId.",
  );
}
