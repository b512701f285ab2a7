import { DaemonClientError } from "@codexkit/daemon/client";

/** One sentence about an error of a request. */
export function explainError(error: unknown): string {
  if (DaemonClientError.is(error)) return error.problem?.detail ?? error.message;
  return "The daemon can't be reached.";
}
