/** Calls a logger. One that throws, or returns a promise that rejects, is no reason for a call to fail. */
export function log(write: () => unknown): void {
  // `Promise.try` is not in Node 22.
  (async () => write())().catch(() => {});
}
