import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { Caller } from "../connection/caller.ts";
import { callOptions } from "./call-options.ts";
import { type ListOptions, type Page, pageAt, type PageOptions, pageParams, paginate } from "./paginate.ts";

interface AppScope {
  /** As this thread's config allows them. */
  readonly threadId?: string;
}

interface AppListScope extends AppScope {
  /** Past the server's cache. */
  readonly refetch?: boolean;
}

/** Apps: the connectors of a ChatGPT account. */
export class Apps {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Every app that the account may use. */
  list({ threadId, refetch = false, ...options }: ListOptions & AppListScope = {}): AsyncGenerator<
    v2.AppInfo,
    void,
    undefined
  > {
    const scope = { refetch, ...(threadId === undefined ? {} : { threadId }) };
    return paginate((cursor) => this.page({ ...pageAt(cursor, options), ...scope }));
  }

  /** One page of the apps. */
  page({ threadId, refetch = false, ...options }: PageOptions & AppListScope = {}): Promise<
    Page<v2.AppInfo>
  > {
    const params = { ...pageParams(options), threadId: threadId ?? null, forceRefetch: refetch };
    return this.#caller.request("app/list", params, callOptions(options));
  }

  /** What is known of some apps by their ids, at most a hundred. */
  read(
    ids: readonly string[],
    { threadId, ...options }: CallOptions & AppScope = {},
  ): Promise<v2.AppsReadResponse> {
    return this.#caller.request("app/read", { appIds: [...ids], threadId: threadId ?? null }, options);
  }

  /** The apps that are set up, and whether they can be called. */
  async installed({ threadId, ...options }: CallOptions & AppScope = {}): Promise<v2.InstalledApp[]> {
    const { apps } = await this.#caller.request("app/installed", { threadId: threadId ?? null }, options);
    return apps;
  }
}
