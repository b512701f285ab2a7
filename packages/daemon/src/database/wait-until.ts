import type { Notifier } from "@codexkit/store";

export interface WaitOptions<Value> {
  readonly notifier: Notifier;
  readonly key: string;
  /** Each ends the wait with its reason. */
  readonly signals: readonly AbortSignal[];
  /** Undefined means: not yet. */
  readonly look: () => Promise<Value | undefined>;
}

/** Looks into the store now and at every hint, until there is a value. */
export async function waitUntil<Value>({ notifier, key, signals, look }: WaitOptions<Value>): Promise<Value> {
  const signal = AbortSignal.any([...signals]);
  let hinted = Promise.withResolvers<void>();
  // Subscribed before the first look, so that no change falls between them.
  using _listening = notifier.subscribe(key, () => hinted.resolve());
  const onAbort = (): void => hinted.resolve();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const value = await look();
      if (value !== undefined) return value;
      await hinted.promise;
      hinted = Promise.withResolvers();
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
