import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { Caller } from "../connection/caller.ts";

/** The ways of working together that a turn may choose: Plan, Default. */
export class CollaborationModes {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** The presets. */
  async list(options: CallOptions = {}): Promise<v2.CollaborationModeMask[]> {
    const { data } = await this.#caller.request("collaborationMode/list", {}, options);
    return data;
  }
}
