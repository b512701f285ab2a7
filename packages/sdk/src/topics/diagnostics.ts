import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { Caller } from "../connection/caller.ts";

/** How the server is doing. */
export interface ServerDiagnostics {
  readonly process: v2.ServerDiagnosticsProcess;
  /** Counts by name, such as `app.requests.in_flight`. A release may add and drop names. */
  readonly gauges: Readonly<Record<string, number>>;
}

/** The server's own view of itself. */
export class Diagnostics {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Its process, its memory and its queues. */
  async read(options: CallOptions = {}): Promise<ServerDiagnostics> {
    const { process, gauges } = await this.#caller.request("server/diagnostics", {}, options);
    return { process, gauges: Object.fromEntries(gauges.map(({ name, value }) => [name, value])) };
  }
}
