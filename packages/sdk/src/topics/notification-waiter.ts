import type { ServerNotifications } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import { AsyncQueue, DisposableStack, raceAbort, withTimeout } from "@codexkit/rpc/async";
import type { TopicCaller } from "./topic-caller.ts";
import { CodexError } from "../errors.ts";

/**
 * Waits for one notification of a method. It listens from its construction on: the response to the request that starts an
 * operation, and carries its id, can arrive after the notification that ends the operation.
 */
export class NotificationWaiter<Method extends keyof ServerNotifications> implements Disposable {
  readonly #method: Method;
  readonly #received = new AsyncQueue<ServerNotifications[Method]>();
  readonly #subscriptions = new DisposableStack();

  constructor(caller: TopicCaller, method: Method) {
    this.#method = method;
    this.#subscriptions.use(caller.on(method, (params) => this.#received.push(params)));
    this.#subscriptions.use(caller.onLost?.((error) => this.#received.end(error)));
  }

  /** Resolves to the first matching notification, including those received before the call. One call at a time. */
  until(
    matches: (params: ServerNotifications[Method]) => boolean,
    { signal, timeoutMs = Infinity }: CallOptions = {},
  ): Promise<ServerNotifications[Method]> {
    const found = this.#findNext(matches);
    const limited =
      timeoutMs === Infinity
        ? found
        : withTimeout(found, timeoutMs, () => {
            return new CodexError("timeout", `${this.#method} was not received within ${timeoutMs} ms.`);
          });
    return raceAbort(limited, signal, ({ reason }) => {
      return new CodexError("aborted", `Waiting for ${this.#method} was aborted.`, { cause: reason });
    });
  }

  [Symbol.dispose](): void {
    this.#subscriptions.dispose();
  }

  async #findNext(
    matches: (params: ServerNotifications[Method]) => boolean,
  ): Promise<ServerNotifications[Method]> {
    for await (const params of this.#received) if (matches(params)) return params;
    throw new CodexError("closed", `${this.#method} can no longer be received.`);
  }
}
