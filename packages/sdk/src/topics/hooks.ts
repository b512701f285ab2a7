import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { Caller } from "../connection/caller.ts";

/** Programs of the user or the project that Codex runs at points of a turn. */
export class Hooks {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** The hooks that are seen from each folder, with whether they are trusted and what is wrong with the others. */
  async list({ cwds = [], ...options }: CallOptions & { readonly cwds?: readonly string[] } = {}): Promise<
    v2.HooksListEntry[]
  > {
    const { data } = await this.#caller.request("hooks/list", { cwds: [...cwds] }, options);
    return data;
  }

  /** The hooks of a loaded thread. */
  async listOfThread(threadId: string, options: CallOptions = {}): Promise<v2.HooksListEntry[]> {
    const { data } = await this.#caller.request("hooks/list", { threadId }, options);
    return data;
  }
}
