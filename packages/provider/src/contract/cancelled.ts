import { raceAbort } from "@codexkit/rpc/async";
import { ProviderError } from "./provider-error.ts";

/**
 * Settles as the promise does, or rejects as soon as the signal aborts. The work behind the promise continues.
 * @throws {ProviderError} `context_cancelled`
 */
export function raceCancel<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  return raceAbort(promise, signal, cancelledError);
}

/** @throws {ProviderError} `context_cancelled` if the signal has aborted. */
export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw cancelledError(signal);
}

function cancelledError(signal: AbortSignal): ProviderError {
  return new ProviderError("context_cancelled", "The caller's signal was aborted.", { cause: signal.reason });
}
