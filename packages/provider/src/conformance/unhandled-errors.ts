const EVENTS = ["unhandledRejection", "uncaughtException"] as const;

/**
 * Collects the errors that nothing handles while the work runs. Node ends a process for one, and test runners fail the run
 * without saying where it came from: for as long as this collects, it is the only listener.
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
    // Node reports a rejection once the microtasks of its round are done.
    await new Promise<void>((resolve) => setImmediate(resolve));
    return { value, errors };
  } finally {
    for (const [index, event] of EVENTS.entries()) {
      process.removeListener(event, collect);
      for (const listener of others[index] ?? []) process.on(event, listener);
    }
  }
}
