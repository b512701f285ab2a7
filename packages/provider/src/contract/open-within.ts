import type { AgentSpec } from "./agent-spec.ts";
import { ProviderError } from "./provider-error.ts";

/**
 * Opens a session within `openTimeoutMs`. The signal that `open` receives is that of the session. It aborts with the caller's
 * signal, and on the timeout, so that the provider discards the session as it does when the caller cancels.
 * @throws {ProviderError} `open_timeout`
 */
export async function openWithin<Handle>(
  { openTimeoutMs }: Pick<AgentSpec, "openTimeoutMs">,
  signal: AbortSignal | undefined,
  open: (signal: AbortSignal | undefined) => Promise<Handle>,
): Promise<Handle> {
  if (openTimeoutMs === undefined) return open(signal);
  const timeout = new AbortController();
  const message = `The session was not open after ${openTimeoutMs} ms (openTimeoutMs). Retry, or increase the timeout.`;
  const expired = new ProviderError("open_timeout", message);
  const timer = setTimeout(() => timeout.abort(expired), openTimeoutMs);
  try {
    return await open(signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal);
  } catch (error) {
    throw timeout.signal.aborted && !signal?.aborted ? expired : error;
  } finally {
    clearTimeout(timer);
  }
}
