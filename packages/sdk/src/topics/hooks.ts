import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { Caller } from "../connection/caller.ts";

/** Programs of the user or the project that Codex runs at certain points of a turn. */
export class Hooks {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Lists the hooks that apply in each folder, whether they are trusted, and the errors of invalid ones. */
  async list({ cwds = [], ...options }: CallOptions & { readonly cwds?: readonly string[] } = {}): Promise<
    v2.HooksListEntry[]
  > {
    const { data } = await this.#caller.request("hooks/list", { cwds: [...cwds] }, options);
    return data;
  }

  /** Lists the hooks of a loaded thread. */
  async listOfThread(threadId: string, options: CallOptions = {}): Promise<v2.HooksListEntry[]> {
    const { data } = await this.#caller.request("hooks/list", { threadId }, options);
    return data;
  }
}
