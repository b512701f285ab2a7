import { ProviderError } from "./provider-error.ts";

/**
 * Waits no longer than the caller wants to; what it waited for goes on.
 * @throws {ProviderError} `context_cancelled`
 */
export async function untilAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  if (!signal) return promise;
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(cancelled(signal));
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([aborted.promise, promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** @throws {ProviderError} `context_cancelled` if the signal has fired. */
export function refuseAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw cancelled(signal);
}

function cancelled(signal: AbortSignal): ProviderError {
  return new ProviderError("context_cancelled", "The caller's signal fired.", { cause: signal.reason });
}
