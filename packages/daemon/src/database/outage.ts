import { StoreError } from "@codexkit/store";
import { setTimeout as delay } from "node:timers/promises";

const RETRY_MS = { first: 50, longest: 2_000 } as const;

/** Whether the store may take the same again later: it can't be reached, or is full. */
export function isOutage(error: unknown): boolean {
  return StoreError.is(error) && (error.code === "store_unavailable" || error.code === "store_full");
}

/** Repeats what fails because of an outage of the store, until it is closed or the signal aborts. It may have been carried out before it failed. */
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
