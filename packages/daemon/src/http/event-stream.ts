import type { EventBatch } from "../journal/event-batch.ts";

const encoder = new TextEncoder();
const HEARTBEAT = encoder.encode(":\n\n");
/** Sent first, so that proxies forward the headers. Also sets the time that a browser waits before it reconnects. */
const OPENING = encoder.encode(":\nretry: 1000\n\n");

export interface EventStreamOptions {
  readonly heartbeatMs: number;
  /** Aborts when the client has disconnected or the daemon closes. */
  readonly signal: AbortSignal;
  /** Called once when the stream ends for any reason. */
  readonly onEnd: () => void;
}

/**
 * Creates a response with server-sent events. The next chunk is requested only after the previous one has been written
 * to the socket, so a stalled reader buffers one chunk. The source keeps its position, so nothing is skipped.
 */
export function eventStreamResponse(
  chunks: AsyncIterable<Uint8Array>,
  { heartbeatMs, signal, onEnd }: EventStreamOptions,
): Response {
  const iterator = chunks[Symbol.asyncIterator]();
  let pending: Promise<IteratorResult<Uint8Array>> | undefined;
  let hasEnded = false;
  let beat: (() => void) | undefined;
  const timer = setInterval(() => beat?.(), heartbeatMs);
  timer.unref();

  const end = (): void => {
    if (hasEnded) return;
    hasEnded = true;
    clearInterval(timer);
    signal.removeEventListener("abort", end);
    beat?.();
    void iterator.return?.().catch(() => undefined);
    onEnd();
  };
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();

  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(OPENING),
      pull: async (controller) => {
        if (hasEnded) return controller.close();
        pending ??= iterator.next();
        const heartbeat = new Promise<undefined>((resolve) => {
          beat = () => resolve(undefined);
        });
        const next = await Promise.race([pending, heartbeat]).catch(() => ({
          done: true as const,
          value: undefined,
        }));
        beat = undefined;
        if (hasEnded) return controller.close();
        if (next === undefined) return controller.enqueue(HEARTBEAT);
        pending = undefined;
        if (!next.done) return controller.enqueue(next.value);
        end();
        controller.close();
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      // Without it, nginx buffers events.
      "x-accel-buffering": "no",
    },
  });
}

/** Formats one message. JSON contains no line breaks, so `data` is one line. */
export function formatMessage(id: string | number, json: string): string {
  return `id: ${id}\ndata: ${json}\n\n`;
}

const encoded = new WeakMap<EventBatch, Uint8Array>();

/**
 * Encodes a batch of events once for all readers. Readers at the same position receive the same batch object from the
 * journal.
 */
export function encodeBatch(batch: EventBatch): Uint8Array {
  const known = encoded.get(batch);
  if (known) return known;
  let text = "";
  for (const { seq, json } of batch.texts()) text += formatMessage(seq, json);
  const bytes = encoder.encode(text);
  encoded.set(batch, bytes);
  return bytes;
}
