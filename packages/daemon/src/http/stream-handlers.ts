import type { Context } from "hono";
import { DaemonError } from "../errors.ts";
import { encodeBatch, eventStreamResponse } from "./event-stream.ts";
import type { Handlers, HttpServices } from "./handler.ts";
import { multiplex, resolveWatched } from "./multiplexer.ts";
import { openStream } from "./open-stream.ts";
import { parseCursor, parseWatch } from "./stream-cursor.ts";
import type { StreamCounter } from "./stream-counter.ts";
import type { SummaryFeeds } from "./summary-feeds.ts";

export function createStreamHandlers(services: HttpServices, streams: StreamCounter, feeds: SummaryFeeds) {
  const { database, limits, metrics } = services;
  const { journal } = database;
  return {
    "GET /sessions/{sessionId}/events": async ({
      params: { sessionId },
      query,
      identity,
      signal,
      context,
    }) => {
      const after = query.after ?? readSequence(context.req.header("last-event-id")) ?? 0;
      if (!acceptsStream(context)) {
        const { events, gap, lastSeq } = await journal.read(sessionId, { after, limit: query.limit });
        return {
          events: [...events],
          gap: gap ?? null,
          next: events.at(-1)?.seq ?? gap?.to ?? after,
          lastSeq,
        };
      }
      // Rejects unknown sessions and invalid cursors while a problem can still be sent.
      await journal.read(sessionId, { after, limit: 1 });
      const stream = openStream(services, streams, { kind: "session", identity, signal });
      return eventStreamResponse(encodeEvents(sessionId, after, stream.signal), stream);
    },
    "GET /events": async ({ query, identity, signal, context }) => {
      const cursor = parseCursor(query.cursor ?? context.req.header("last-event-id"));
      const watch = parseWatch(query.watch, limits.watchedSessions);
      const watched = await resolveWatched(database, watch, cursor);
      const stream = openStream(services, streams, { kind: "multiplexed", identity, signal });
      const onBatch = (): void => metrics.sentBatches.inc({ kind: "multiplexed" });
      const chunks = multiplex({ database, feeds, cursor, watched, signal: stream.signal, onBatch });
      return eventStreamResponse(chunks, stream);
    },
  } satisfies Partial<Handlers>;

  async function* encodeEvents(
    sessionId: string,
    after: number,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    for await (const batch of journal.followBatches(sessionId, { after, signal })) {
      metrics.sentBatches.inc({ kind: "session" });
      yield encodeBatch(batch);
    }
  }
}

function acceptsStream(context: Context): boolean {
  return /\btext\/event-stream\b/.test(context.req.header("accept") ?? "");
}

function readSequence(value: string | undefined): number | undefined {
  if (value === undefined || value === "") return undefined;
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw new DaemonError("invalid_cursor", `Last-Event-ID must be a sequence number, not "${value}".`);
}
