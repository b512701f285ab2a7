import type { ClientRequests, ServerNotifications } from "@codexkit/protocol";
import type { CallOptions, ParamsArgument } from "@codexkit/rpc";

/**
 * The connection, as seen by the rest of the SDK. A call starts or restarts the server if none is running, and rejects
 * with a `CodexError`.
 */
export interface Caller {
  request<M extends keyof ClientRequests>(
    method: M,
    ...args: ParamsArgument<ClientRequests[M]["params"], [options?: CallOptions]>
  ): Promise<ClientRequests[M]["result"]>;

  /** Listens to a notification from the current server and later ones. Any number of listeners per method. */
  on<M extends keyof ServerNotifications>(
    method: M,
    listener: (params: ServerNotifications[M]) => void,
  ): Disposable;
}
