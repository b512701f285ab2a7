import type { Notifier } from "@codexkit/store";

export interface WaitOptions<Value> {
  readonly notifier: Notifier;
  readonly key: string;
  /** Each signal ends the wait with its abort reason. */
  readonly signals: readonly AbortSignal[];
  /** Undefined: not yet. */
  readonly query: () => Promise<Value | undefined>;
}

/** Runs the query now and after every notification, until it returns a value. */
export async function waitUntil<Value>({
  notifier,
  key,
  signals,
  query,
}: WaitOptions<Value>): Promise<Value> {
  const signal = AbortSignal.any([...signals]);
  let notified = Promise.withResolvers<void>();
  // Subscribes before the first query, so that no change is missed in between.
  using _listening = notifier.subscribe(key, () => notified.resolve());
  const onAbort = (): void => notified.resolve();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const value = await query();
      if (value !== undefined) return value;
      await notified.promise;
      notified = Promise.withResolvers();
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
