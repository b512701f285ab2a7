import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { Caller } from "../connection/caller.ts";
import { callOptions } from "./call-options.ts";
import { type ListOptions, type Page, pageAt, type PageOptions, pageParams, paginate } from "./paginate.ts";

interface InThread {
  /** As this thread sees them. */
  readonly threadId?: string;
}

/** Codex's feature flags. */
export class Features {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Every flag, its stage, and whether it is on. */
  list({ threadId, ...options }: ListOptions & InThread = {}): AsyncGenerator<
    v2.ExperimentalFeature,
    void,
    undefined
  > {
    return paginate((cursor) =>
      this.page({ ...pageAt(cursor, options), ...(threadId === undefined ? {} : { threadId }) }),
    );
  }

  /** One page of the flags. */
  page({ threadId, ...options }: PageOptions & InThread = {}): Promise<Page<v2.ExperimentalFeature>> {
    const params = { ...pageParams(options), threadId: threadId ?? null };
    return this.#caller.request("experimentalFeature/list", params, callOptions(options));
  }

  /**
   * Switches flags until the server ends. Codex lets a client switch only some and passes over the others in silence:
   * `ignored` names them. The config (`features.name`) switches all.
   */
  async set(
    flags: Readonly<Record<string, boolean>>,
    options: CallOptions = {},
  ): Promise<{ readonly applied: readonly string[]; readonly ignored: readonly string[] }> {
    const { enablement } = await this.#caller.request(
      "experimentalFeature/enablement/set",
      { enablement: flags },
      options,
    );
    const names = Object.keys(flags);
    return {
      applied: names.filter((name) => enablement[name] === flags[name]),
      ignored: names.filter((name) => enablement[name] !== flags[name]),
    };
  }
}
