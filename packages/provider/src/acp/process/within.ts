/** Waits for an agent, but not for ever: what it did not do in time is an error by its name. */
export async function within<T>(what: string, limitMs: number, work: Promise<T>): Promise<T> {
  const limit = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => limit.reject(new Error(`${what} did not come within ${limitMs} ms`)),
    limitMs,
  );
  try {
    return await Promise.race([work, limit.promise]);
  } finally {
    clearTimeout(timer);
  }
}
