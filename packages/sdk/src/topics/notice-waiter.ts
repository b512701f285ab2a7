import type { ServerNotifications } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import { DisposableStack } from "@codexkit/rpc/async";
import { CodexError } from "../errors.ts";
import type { TopicCaller } from "./topic-caller.ts";

/** The longest delay of a timer: Node fires one above it at once. About 25 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Waits for one notification of a kind. It hears from the moment it is made, because the answer to the request that begins
 * something, and names it, can come after the notification that ends it.
 */
export class NoticeWaiter<Method extends keyof ServerNotifications> implements Disposable {
  readonly #method: Method;
  readonly #heard: ServerNotifications[Method][] = [];
  readonly #subscriptions = new DisposableStack();
  #onNotice: ((params: ServerNotifications[Method]) => void) | undefined;
  #onLost: ((error: CodexError) => void) | undefined;
  #lost: CodexError | undefined;

  constructor(caller: TopicCaller, method: Method) {
    this.#method = method;
    this.#subscriptions.use(
      caller.on(method, (params) => {
        if (this.#onNotice) this.#onNotice(params);
        else this.#heard.push(params);
      }),
    );
    this.#subscriptions.use(
      caller.onLost?.((error) => {
        this.#lost = error;
        this.#onLost?.(error);
      }),
    );
  }

  /** The first notification that matches, heard before or still to come. One wait at a time. */
  until(
    matches: (params: ServerNotifications[Method]) => boolean,
    { signal, timeoutMs = Infinity }: CallOptions = {},
  ): Promise<ServerNotifications[Method]> {
    const { promise, resolve, reject } = Promise.withResolvers<ServerNotifications[Method]>();
    const onAbort = (): void =>
      reject(
        new CodexError("aborted", `Waiting for ${this.#method} was aborted.`, { cause: signal?.reason }),
      );
    const limit =
      timeoutMs === Infinity
        ? undefined
        : setTimeout(
            () => reject(new CodexError("timeout", `${this.#method} did not come within ${timeoutMs} ms.`)),
            Math.min(timeoutMs, LONGEST_TIMER_MS),
          );
    this.#onNotice = (params) => {
      if (matches(params)) resolve(params);
    };
    this.#onLost = reject;
    for (const params of this.#heard.splice(0)) this.#onNotice(params);
    if (this.#lost) reject(this.#lost);
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    return promise.finally(() => {
      clearTimeout(limit);
      signal?.removeEventListener("abort", onAbort);
      this.#onNotice = undefined;
      this.#onLost = undefined;
    });
  }

  [Symbol.dispose](): void {
    this.#subscriptions.dispose();
  }
}
