/**
 * Settles like the promise, or rejects as soon as the signal aborts. The work behind the promise continues; the caller
 * stops it if needed.
 *
 * @param toError Creates the error to reject with. Default: the signal's reason.
 */
export async function raceAbort<Value>(
  promise: Promise<Value>,
  signal: AbortSignal | undefined,
  toError: (signal: AbortSignal) => unknown = (aborted) => aborted.reason,
): Promise<Value> {
  if (!signal) return promise;
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(toError(signal));
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    // The abort comes first: a signal that has already aborted wins over a promise that has already settled.
    return await Promise.race([aborted.promise, promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
