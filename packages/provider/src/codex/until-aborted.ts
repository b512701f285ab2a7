import { ProviderError } from "../contract/provider-error.ts";

/** Waits no longer than the caller wants to; what it waited for goes on. */
export async function untilAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  if (!signal) return promise;
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => {
    const message = "The caller's signal fired.";
    aborted.reject(new ProviderError("context_cancelled", message, { cause: signal.reason }));
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
