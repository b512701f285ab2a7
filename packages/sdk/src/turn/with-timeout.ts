import { CodexError } from "../errors.ts";

/** Rejects with `timeout` if the promise takes longer than the limit. The work behind the promise goes on. */
export async function withTimeout<Value>(
  promise: Promise<Value>,
  limitMs: number,
  what: string,
): Promise<Value> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new CodexError("timeout", `${what} within ${limitMs} ms.`));
  }, limitMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
