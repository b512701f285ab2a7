import type { v2 } from "@codexkit/protocol";
import type { Caller } from "../connection/caller.ts";
import { callOptions } from "./call-options.ts";
import { type ListOptions, type Page, pageAt, type PageOptions, pageParams, paginate } from "./paginate.ts";

interface InFolder {
  /** Also the profiles of this folder's project. */
  readonly cwd?: string;
}

/** Named sets of permissions: `:read-only`, `:workspace`, `:danger-full-access`, and those of the config. */
export class PermissionProfiles {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Every profile, and whether it may be chosen. */
  list({ cwd, ...options }: ListOptions & InFolder = {}): AsyncGenerator<
    v2.PermissionProfileSummary,
    void,
    undefined
  > {
    return paginate((cursor) =>
      this.page({ ...pageAt(cursor, options), ...(cwd === undefined ? {} : { cwd }) }),
    );
  }

  /** One page of the profiles. */
  page({ cwd, ...options }: PageOptions & InFolder = {}): Promise<Page<v2.PermissionProfileSummary>> {
    const params = { ...pageParams(options), cwd: cwd ?? null };
    return this.#caller.request("permissionProfile/list", params, callOptions(options));
  }
}
