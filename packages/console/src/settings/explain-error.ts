import { DaemonClientError } from "@codexkit/daemon/client";

/** Describes an error of a request in one sentence. */
export function explainError(error: unknown): string {
  if (DaemonClientError.is(error)) return error.problem?.detail ?? error.message;
  return "The daemon can't be reached.";
}
