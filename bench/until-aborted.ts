/**
 * The work's own end, or the signal's reason. After the signal falls the work has `graceMs` to clean up, so that the
 * context it uses is not disposed under its hands; then it is left behind.
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal, graceMs: number): Promise<T> {
  const leftBehind = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    timer = setTimeout(() => leftBehind.reject(signal.reason), graceMs);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, leftBehind.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
