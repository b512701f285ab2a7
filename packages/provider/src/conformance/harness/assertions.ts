import { AssertionError } from "node:assert";
import { withTimeout } from "@codexkit/rpc/async";

/** The failure of a check. The message is for the author of the provider. */
export function failure(message: string, cause?: unknown): AssertionError {
  const error = new AssertionError({ message });
  if (cause !== undefined) error.cause = cause;
  return error;
}

/** Fails a check unless the condition is true. */
export function assertThat(condition: boolean, message: string | (() => string)): asserts condition {
  if (!condition) throw failure(typeof message === "string" ? message : message());
}

/** Waits for a promise. After the limit, the check fails with a message that names `what`. */
export function waitFor<Value>(what: string, limitMs: number, work: PromiseLike<Value>): Promise<Value> {
  return withTimeout(Promise.resolve(work), limitMs, () => failure(`${what} took longer than ${limitMs} ms`));
}

/** An error as one line. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error && typeof error.code === "string" ? ` (${error.code})` : "";
  return `${error.message}${error instanceof AssertionError ? "" : code}`;
}
