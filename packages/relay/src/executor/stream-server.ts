import type { AcceptOptions } from "@codexkit/exec-server";
import type { Transport } from "@codexkit/rpc";

/** Serves the clients whose streams an executor has accepted: an `ExecServer`, or a `Forwarder` to one. */
export interface StreamServer extends AsyncDisposable {
  accept(transport: Transport, options?: AcceptOptions): void;
}
