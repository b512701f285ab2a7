import type { Identity } from "../api/token.ts";
import type { EventStreamOptions } from "./event-stream.ts";
import type { HttpServices } from "./handler.ts";
import type { StreamCounter, StreamKind } from "./stream-counter.ts";

/**
 * Counts a stream and ends it when its client disconnects, its token ends or the daemon closes. The signal also aborts
 * when the response ends, so that its source ends, too. Throws `too_many_connections`.
 */
export function openStream(
  { auth, database, limits, closing }: HttpServices,
  streams: StreamCounter,
  { kind, identity, signal }: { kind: StreamKind; identity: Identity; signal: AbortSignal },
): EventStreamOptions {
  const remove = streams.add(kind);
  const stop = new AbortController();
  const watch = auth === "tokens" ? database.tokens.watch(identity.id, () => stop.abort()) : undefined;
  return {
    heartbeatMs: limits.heartbeatMs,
    signal: AbortSignal.any([signal, closing, stop.signal]),
    onEnd: () => {
      remove();
      watch?.[Symbol.dispose]();
      stop.abort();
    },
  };
}
