import type { ClientRequests, ServerNotifications } from "@codexkit/protocol";
import type { CallOptions, ParamsArgument } from "@codexkit/rpc";

/**
 * What the parts of the SDK need of a connection. The supervisor gives it: a call starts or restarts the server when there
 * is none, and errors come as `CodexError`.
 */
export interface Caller {
  request<M extends keyof ClientRequests>(
    method: M,
    ...args: ParamsArgument<ClientRequests[M]["params"], [options?: CallOptions]>
  ): Promise<ClientRequests[M]["result"]>;

  /** Hears a notification, from whatever server is running now or later. Any number of listeners a method. */
  on<M extends keyof ServerNotifications>(
    method: M,
    listener: (params: ServerNotifications[M]) => void,
  ): Disposable;
}
