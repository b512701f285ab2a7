/** A door that a script waits at and a test opens: the way to hold a stream without sleeping. */
export interface Gate {
  /** Lets everyone through, now and later. */
  open(): void;
  /** Ends every reply waiting here, as a failure of the script. */
  fail(reason: Error): void;
  /** Settles when the gate was opened or failed. */
  readonly opened: Promise<void>;
}

/** Makes a closed gate for `waitFor`. */
export function gate(): Gate {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // Nobody may be waiting when a gate fails; that must not end the process.
  promise.catch(() => {});
  return { open: () => resolve(), fail: reject, opened: promise };
}
