import { AsyncDisposableStack } from "@codexkit/rpc/async";
import { CodexError } from "../errors.ts";
import { Feed } from "./feed.ts";
import type { TopicCaller } from "./topic-caller.ts";

export interface LiveFeedOptions<Value, Started> {
  /** What ends when the signal fires, for its error. */
  readonly what: string;
  /** Joins a value that nobody has read yet with the next. */
  readonly merge: (unread: Value, next: Value) => Value;
  /** Hears the values; begins before `start`, so that none is missed. */
  readonly listen: (push: (value: Value) => void) => readonly Disposable[];
  /** Asks the server to begin. */
  readonly start: () => Promise<Started>;
  /** Asks the server to stop; not asked of one that is gone. */
  readonly stop?: () => Promise<unknown>;
  readonly signal?: AbortSignal | undefined;
  /** Whether it goes on when its reader leaves, because another may come. */
  readonly outlivesReader?: boolean;
}

export interface LiveFeed<Value, Started> extends AsyncIterable<Value>, AsyncDisposable {
  readonly started: Started;
}

/** Values that a server sends from a request on, until it is disposed of, the signal fires, or the server is gone. */
export async function openLiveFeed<Value, Started>(
  caller: TopicCaller,
  { what, merge, listen, start, stop, signal, outlivesReader = false }: LiveFeedOptions<Value, Started>,
): Promise<LiveFeed<Value, Started>> {
  await using opening = new AsyncDisposableStack();
  const feed = new Feed<Value>({
    merge,
    ...(outlivesReader ? {} : { onReturn: () => open.disposeAsync() }),
  });
  opening.defer(() => feed.end());
  for (const listener of listen((value) => feed.push(value))) opening.use(listener);
  let lost = false;
  opening.use(
    caller.onLost?.((error) => {
      lost = true;
      feed.end(error);
    }),
  );
  const started = await start();
  opening.defer(async () => {
    // Asking would start another server; and one that goes meanwhile takes what it watched along.
    if (!lost) await stop?.().catch(() => {});
  });
  const onAbort = (): void => {
    feed.end(new CodexError("aborted", `${what} was aborted.`, { cause: signal?.reason }));
    void open.disposeAsync();
  };
  const open = opening.move();
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  open.defer(() => signal?.removeEventListener("abort", onAbort));
  return {
    started,
    [Symbol.asyncIterator]: () => feed[Symbol.asyncIterator](),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
