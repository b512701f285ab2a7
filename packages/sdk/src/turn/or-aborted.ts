import { CodexError } from "../errors.ts";

/**
 * The promise, or an error as soon as the signal fires. What the promise stands for goes on: whoever makes the error may
 * see to it.
 */
export async function orAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal | undefined,
  toError: (signal: AbortSignal) => Error = abortedError,
): Promise<Value> {
  if (!signal) return promise;
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(toError(signal));
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

export function abortedError(signal: AbortSignal): CodexError {
  return new CodexError("aborted", "The wait was aborted.", { cause: signal.reason });
}
