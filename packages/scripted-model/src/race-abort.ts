import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";

import { ScriptedModelError } from "./errors.ts";
import type { PausePart, WaitPart } from "./part.ts";

/** Waits for the condition of a part. Rejects when the signal aborts because the client has disconnected. */
export async function waitForPart(part: WaitPart | PausePart, signal: AbortSignal): Promise<void> {
  if (part.kind === "pause") {
    await delay(part.ms, undefined, { signal });
    return;
  }
  const { until: awaited } = part;
  if (awaited instanceof AbortSignal) {
    if (!awaited.aborted) await once(awaited, "abort", { signal });
    return;
  }
  await raceAbort("opened" in awaited ? awaited.opened : awaited, signal);
}

/** Settles like the promise, or rejects when the signal aborts. A rejection of the promise is a failure of the script. */
export async function raceAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  // If the signal has already aborted, a rejection of the promise must not end the process.
  promise.catch(() => {});
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason as Error);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } catch (cause) {
    if (signal.aborted || cause instanceof ScriptedModelError) throw cause;
    throw new ScriptedModelError("script_failed", `The script failed: ${messageOf(cause)}`, { cause });
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
