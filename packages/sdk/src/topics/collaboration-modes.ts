import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { Caller } from "../connection/caller.ts";

/** Presets for how the agent works with the user, such as Plan and Default. A turn selects one. */
export class CollaborationModes {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists the presets. */
  async list(options: CallOptions = {}): Promise<v2.CollaborationModeMask[]> {
    const { data } = await this.#caller.request("collaborationMode/list", {}, options);
    return data;
  }
}
