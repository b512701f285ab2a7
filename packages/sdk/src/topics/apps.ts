import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { Caller } from "../connection/caller.ts";
import { pickCallOptions } from "./pick-call-options.ts";
import { type ListOptions, listPages, type Page, type PageOptions, toPageParams } from "./paginate.ts";

interface AppScope {
  /** Applies this thread's config. */
  readonly threadId?: string;
}

interface AppListScope extends AppScope {
  /** Bypasses the server's cache. */
  readonly refetch?: boolean;
}

/** Apps, which are the connectors of a ChatGPT account. */
export class Apps {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Yields all apps that the account may use. */
  list(options: ListOptions & AppListScope = {}): AsyncGenerator<v2.AppInfo, void, undefined> {
    return listPages(options, (page) => this.page(page));
  }

  /** Reads one page of the apps. */
  page({ threadId, refetch = false, ...options }: PageOptions & AppListScope = {}): Promise<
    Page<v2.AppInfo>
  > {
    const params = { ...toPageParams(options), threadId: threadId ?? null, forceRefetch: refetch };
    return this.#caller.request("app/list", params, pickCallOptions(options));
  }

  /** Reads apps by id, at most 100 per call. */
  read(
    ids: readonly string[],
    { threadId, ...options }: CallOptions & AppScope = {},
  ): Promise<v2.AppsReadResponse> {
    return this.#caller.request("app/read", { appIds: [...ids], threadId: threadId ?? null }, options);
  }

  /** Lists the installed apps and whether they can be called. */
  async installed({ threadId, ...options }: CallOptions & AppScope = {}): Promise<v2.InstalledApp[]> {
    const { apps } = await this.#caller.request("app/installed", { threadId: threadId ?? null }, options);
    return apps;
  }
}
