import { AsyncDisposableStack, AsyncQueue } from "@codexkit/rpc/async";
import type { TopicCaller } from "./topic-caller.ts";
import { CodexError } from "../errors.ts";

export interface SubscriptionOptions<Value, Started> {
  /** Subject of the error message when the signal aborts. */
  readonly what: string;
  /** Merges the newest unread value with the next one. */
  readonly merge: (unread: Value, next: Value) => Value;
  /** Registers the listeners. Called before `start`, so that no value is missed. */
  readonly listen: (push: (value: Value) => void) => readonly Disposable[];
  /** Asks the server to start sending. */
  readonly start: () => Promise<Started>;
  /** Asks the server to stop sending. Not called if the connection is lost. */
  readonly stop?: () => Promise<unknown>;
  readonly signal?: AbortSignal | undefined;
  /** Whether the subscription stays open when its reader stops, so that another reader can continue. */
  readonly outlivesReader?: boolean;
}

/** Values that the server sends until the subscription is disposed, its signal aborts, or the connection is lost. */
export interface Subscription<Value, Started> extends AsyncIterable<Value>, AsyncDisposable {
  /** The result of `start`. */
  readonly started: Started;
}

export async function openSubscription<Value, Started>(
  caller: TopicCaller,
  { what, merge, listen, start, stop, signal, outlivesReader = false }: SubscriptionOptions<Value, Started>,
): Promise<Subscription<Value, Started>> {
  await using opening = new AsyncDisposableStack();
  const values = new AsyncQueue<Value>({
    merge,
    ...(outlivesReader ? {} : { onReturn: () => open.disposeAsync() }),
  });
  opening.defer(() => values.end());
  for (const listener of listen((value) => values.push(value))) opening.use(listener);
  let isLost = false;
  opening.use(
    caller.onLost?.((error) => {
      isLost = true;
      values.end(error);
    }),
  );
  const started = await start().catch((error: unknown) => {
    // The server may have started nevertheless. Not awaited, because it may not respond.
    const gaveUp = error instanceof CodexError && (error.code === "aborted" || error.code === "timeout");
    if (gaveUp && !isLost) void stop?.().catch(() => {});
    throw error;
  });
  opening.defer(async () => {
    // A request to a lost server would launch a new one, and the old one's subscriptions ended with it.
    if (!isLost) await stop?.().catch(() => {});
  });
  const onAbort = (): void => {
    values.end(new CodexError("aborted", `${what} was aborted.`, { cause: signal?.reason }));
    void open.disposeAsync();
  };
  const open = opening.move();
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  open.defer(() => signal?.removeEventListener("abort", onAbort));
  return {
    started,
    [Symbol.asyncIterator]: () => values[Symbol.asyncIterator](),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
