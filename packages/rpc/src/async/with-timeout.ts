import { timerDelay } from "../timer-delay.ts";

/** Settles like the promise, or rejects with `toError()` after `timeoutMs`. The work behind the promise continues. */
export async function withTimeout<Value>(
  promise: Promise<Value>,
  timeoutMs: number,
  toError: () => Error,
): Promise<Value> {
  const timedOut = Promise.withResolvers<never>();
  const timer = setTimeout(() => timedOut.reject(toError()), timerDelay(timeoutMs));
  try {
    return await Promise.race([promise, timedOut.promise]);
  } finally {
    clearTimeout(timer);
  }
}
