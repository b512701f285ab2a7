import { CodexError } from "codexkit";

/** Why a thread can't be gone on with: what is left are the messages, which are put into another one. */
const GONE = new Set<unknown>(["thread_not_found", "thread_lost", "thread_locked", "closed"]);

export function isGone(error: unknown): boolean {
  return error instanceof CodexError && GONE.has(error.code);
}

/** The same of a resume or a copy, which Codex also refuses in other words: of a thread that it is just closing, for one. */
export function isRefused(error: unknown): boolean {
  return isGone(error) || (error instanceof CodexError && error.code === "request_failed");
}

/** Whether a codex died, or broke its connection, before it took a call. */
export function isLost(error: unknown): boolean {
  return (
    error instanceof CodexError && (error.code === "app_server_crashed" || error.code === "connection_lost")
  );
}
