import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { Caller } from "../connection/caller.ts";

/** The server's process information and gauges. */
export interface ServerDiagnostics {
  readonly process: v2.ServerDiagnosticsProcess;
  /** Values by name, such as `app.requests.in_flight`. The names can change between releases. */
  readonly gauges: Readonly<Record<string, number>>;
}

/** Diagnostics that the server reports about itself. */
export class Diagnostics {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Reads the server's process, memory and queue values. */
  async read(options: CallOptions = {}): Promise<ServerDiagnostics> {
    const { process, gauges } = await this.#caller.request("server/diagnostics", {}, options);
    return { process, gauges: Object.fromEntries(gauges.map(({ name, value }) => [name, value])) };
  }
}
