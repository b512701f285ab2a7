import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { Caller } from "../connection/caller.ts";
import { pickCallOptions } from "./pick-call-options.ts";
import { type ListOptions, listPages, type Page, type PageOptions, toPageParams } from "./paginate.ts";

interface FeatureScope {
  /** Applies this thread's config. */
  readonly threadId?: string;
}

/** Codex's feature flags. */
export class Features {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Yields all flags with their stage and whether they are enabled. */
  list(options: ListOptions & FeatureScope = {}): AsyncGenerator<v2.ExperimentalFeature, void, undefined> {
    return listPages(options, (page) => this.page(page));
  }

  /** Reads one page of the flags. */
  page({ threadId, ...options }: PageOptions & FeatureScope = {}): Promise<Page<v2.ExperimentalFeature>> {
    const params = { ...toPageParams(options), threadId: threadId ?? null };
    return this.#caller.request("experimentalFeature/list", params, pickCallOptions(options));
  }

  /**
   * Sets flags until the server exits. Codex lets clients set only some flags and silently ignores the others, which
   * `ignored` lists. The config (`features.name`) can set all of them.
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
