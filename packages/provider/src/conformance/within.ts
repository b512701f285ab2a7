import { AssertionError } from "node:assert";

/** Fails a check, in words for the author of the provider. */
export function failure(message: string, cause?: unknown): AssertionError {
  const error = new AssertionError({ message });
  if (cause !== undefined) error.cause = cause;
  return error;
}

/** Fails a check unless it holds. */
export function holds(condition: boolean, message: string | (() => string)): asserts condition {
  if (!condition) throw failure(typeof message === "string" ? message : message());
}

/** Waits for something, but not longer than the limit; then the check fails by the name of what it waited for. */
export async function within<T>(what: string, limitMs: number, work: PromiseLike<T>): Promise<T> {
  const limit = Promise.withResolvers<never>();
  const timer = setTimeout(() => limit.reject(failure(`${what} took longer than ${limitMs} ms`)), limitMs);
  try {
    return await Promise.race([work, limit.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** An error in one line. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error && typeof error.code === "string" ? ` (${error.code})` : "";
  return `${error.message}${error instanceof AssertionError ? "" : code}`;
}
