import type { v2 } from "@codexkit/protocol";
import type { Caller } from "../connection/caller.ts";
import { pickCallOptions } from "./pick-call-options.ts";
import { type ListOptions, listPages, type Page, type PageOptions, toPageParams } from "./paginate.ts";

interface ProfileScope {
  /** Includes the profiles of this folder's project. */
  readonly cwd?: string;
}

/** Named sets of permissions: `:read-only`, `:workspace`, `:danger-full-access`, and those defined in the config. */
export class PermissionProfiles {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Yields all profiles and whether each may be selected. */
  list(
    options: ListOptions & ProfileScope = {},
  ): AsyncGenerator<v2.PermissionProfileSummary, void, undefined> {
    return listPages(options, (page) => this.page(page));
  }

  /** Reads one page of the profiles. */
  page({ cwd, ...options }: PageOptions & ProfileScope = {}): Promise<Page<v2.PermissionProfileSummary>> {
    const params = { ...toPageParams(options), cwd: cwd ?? null };
    return this.#caller.request("permissionProfile/list", params, pickCallOptions(options));
  }
}
