/** Holds a script until a test opens the gate, so that tests need no sleeps. */
export interface Gate {
  /** Releases all current and later waits. */
  open(): void;
  /** Fails every waiting reply, as a failure of the script. */
  fail(reason: Error): void;
  /** Settles when the gate is opened or failed. */
  readonly opened: Promise<void>;
}

/** Creates a closed gate for `waitFor`. */
export function gate(): Gate {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // A gate can fail while no reply is waiting, which must not cause an unhandled rejection.
  promise.catch(() => {});
  return { open: () => resolve(), fail: reject, opened: promise };
}
