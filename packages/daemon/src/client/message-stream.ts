import { createParser, type EventSourceMessage } from "eventsource-parser";
import { DaemonClientError } from "./errors.ts";

export interface ReconnectOptions {
  /** A connection is closed and replaced if it receives no data, including comments, for this long. Default: 45,000 ms. */
  readonly idleMs?: number;
  /** Longest delay between two attempts to connect. Default: 10,000 ms. */
  readonly maxDelayMs?: number;
  /** Called when a connection is established, before its first message. */
  readonly onConnect?: () => void;
  /** Called when a connection was lost or could not be established, before the delay. */
  readonly onDisconnect?: (error: unknown) => void;
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
}

const FIRST_DELAY_MS = 200;

/** Whether a later attempt can't succeed. Other problems, such as 429 and 503, are retried. */
export function isFinal(error: unknown): boolean {
  return DaemonClientError.is(error) && error.status >= 400 && error.status < 500 && error.status !== 429;
}

/**
 * Yields the messages of an event stream in batches, as they arrived together, because iterating over single messages
 * asynchronously would cost more than parsing them. Reconnects with increasing delays until the signal aborts or the
 * daemon rejects the request. `connect` continues after the last message that was yielded.
 */
export async function* reconnectingMessages(
  connect: (signal: AbortSignal) => Promise<Response>,
  { idleMs = 45_000, maxDelayMs = 10_000, onConnect, onDisconnect, signal }: ReconnectOptions,
): AsyncGenerator<readonly EventSourceMessage[]> {
  let failures = 0;
  const isAborted = (): boolean => signal?.aborted === true;
  while (!isAborted()) {
    const attempt = new AbortController();
    const ended = signal ? AbortSignal.any([attempt.signal, signal]) : attempt.signal;
    try {
      const response = await connect(ended);
      if (!response.ok) throw await DaemonClientError.fromResponse(response);
      onConnect?.();
      for await (const messages of readMessages(response, idleMs)) {
        failures = 0;
        yield messages;
      }
      onDisconnect?.(undefined);
    } catch (error) {
      if (isAborted()) return;
      if (isFinal(error)) throw error;
      onDisconnect?.(error);
    } finally {
      attempt.abort();
    }
    await pause(Math.min(maxDelayMs, FIRST_DELAY_MS * 2 ** failures) * (0.5 + Math.random() / 2), signal);
    failures = Math.min(failures + 1, 16);
  }
}

async function* readMessages(
  response: Response,
  idleMs: number,
): AsyncGenerator<readonly EventSourceMessage[]> {
  const messages: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => messages.push(message) });
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  if (!reader) return;
  try {
    for (;;) {
      const { done, value } = await readInTime(reader, idleMs);
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      if (messages.length > 0) yield messages.splice(0);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

async function readInTime(reader: ReadableStreamDefaultReader<Uint8Array>, idleMs: number) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`No data was received from the daemon for ${idleMs} ms.`)),
      idleMs,
    );
  });
  try {
    return await Promise.race([reader.read(), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end, { once: true });
    if (signal?.aborted) end();
  });
}
