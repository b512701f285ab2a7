const EVENTS = ["unhandledRejection", "uncaughtException"] as const;

/**
 * Collects unhandled errors while the work runs. Node would exit, and test runners would fail the run without naming the
 * check, so other listeners are removed meanwhile.
 */
export async function collectUnhandled<Value>(
  work: () => Promise<Value>,
): Promise<{ readonly value: Value; readonly errors: readonly unknown[] }> {
  const errors: unknown[] = [];
  const collect = (error: unknown): void => void errors.push(error);
  const others = EVENTS.map((event) => process.rawListeners(event) as ((...args: unknown[]) => void)[]);
  for (const event of EVENTS) {
    process.removeAllListeners(event);
    process.on(event, collect);
  }
  try {
    const value = await work();
    // Node reports an unhandled rejection after the microtask queue is empty.
    await new Promise<void>((resolve) => setImmediate(resolve));
    return { value, errors };
  } finally {
    for (const [index, event] of EVENTS.entries()) {
      process.removeListener(event, collect);
      for (const listener of others[index] ?? []) process.on(event, listener);
    }
  }
}
