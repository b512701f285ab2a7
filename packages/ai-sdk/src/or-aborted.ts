/** Waits, but no longer than until the signal fires; then rejects with its reason. */
export async function orAborted<Value>(
  wait: Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  if (signal === undefined) return wait;
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason as Error);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([wait, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
