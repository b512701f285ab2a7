import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";

import { ScriptedModelError } from "./errors.ts";
import type { PausePart, WaitPart } from "./part.ts";

/** Waits for what a part names; ends early, by throwing, when the signal says that nobody listens any more. */
export async function until(part: WaitPart | PausePart, signal: AbortSignal): Promise<void> {
  if (part.kind === "pause") {
    await delay(part.ms, undefined, { signal });
    return;
  }
  const { until: awaited } = part;
  if (awaited instanceof AbortSignal) {
    if (!awaited.aborted) await once(awaited, "abort", { signal });
    return;
  }
  await orAbort("opened" in awaited ? awaited.opened : awaited, signal);
}

/** The promise's value, unless the signal aborts first. A rejection is the script's failure. */
export async function orAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  // A promise that nobody comes to wait for must not end the process when it rejects.
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
