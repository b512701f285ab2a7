import { StoreError } from "@codexkit/store";
import { setTimeout as delay } from "node:timers/promises";

const RETRY_MS = { first: 50, longest: 2_000 } as const;

/** Whether an operation may succeed later, because the store is unreachable or full. */
export function isOutage(error: unknown): boolean {
  return StoreError.is(error) && (error.code === "store_unavailable" || error.code === "store_full");
}

/**
 * Retries a task that fails because of an outage of the store, until the store is closed or the signal aborts. A failed
 * attempt may still have been carried out.
 */
export async function outlastOutage<Value>(task: () => Promise<Value>, signal?: AbortSignal): Promise<Value> {
  for (let waitMs: number = RETRY_MS.first; ; waitMs = Math.min(waitMs * 2, RETRY_MS.longest)) {
    try {
      return await task();
    } catch (error) {
      if (!isOutage(error)) throw error;
      await delay(waitMs, undefined, signal && { signal });
    }
  }
}
