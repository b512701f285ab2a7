import type { AgentSpec } from "./agent-spec.ts";
import { ProviderError } from "./provider-error.ts";

/**
 * Opens a session within `openTimeoutMs`. The signal that `open` receives is the session's: it fires with the caller's, and when
 * the time is over before the session is open, so that the provider discards it as it does for a caller who gave up.
 * @throws {ProviderError} `open_timeout`
 */
export async function openWithin<Handle>(
  { openTimeoutMs }: Pick<AgentSpec, "openTimeoutMs">,
  signal: AbortSignal | undefined,
  open: (signal: AbortSignal | undefined) => Promise<Handle>,
): Promise<Handle> {
  if (openTimeoutMs === undefined) return open(signal);
  const timeout = new AbortController();
  const message = `The session was not open after ${openTimeoutMs} ms (openTimeoutMs). Try again, or allow more time.`;
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
