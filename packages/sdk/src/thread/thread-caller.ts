import type { ClientRequests } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import { paginate } from "../topics/paginate.ts";
import type { InputContext } from "../turn/input.ts";

/** Requests with a thread ID. */
export type ThreadMethod = {
  [M in keyof ClientRequests]: ClientRequests[M]["params"] extends { threadId: string } ? M : never;
}[keyof ClientRequests];

export type ThreadParams<M extends ThreadMethod> = Omit<ClientRequests[M]["params"], "threadId">;

/** Requests that read or change the stored thread, which need not be loaded. */
export const STORED: ReadonlySet<ThreadMethod> = new Set<ThreadMethod>([
  "thread/read",
  "thread/turns/list",
  "thread/items/list",
  "thread/searchOccurrences",
  "thread/name/set",
  "thread/archive",
  "thread/unarchive",
  "thread/delete",
  "thread/metadata/update",
  "thread/unsubscribe",
]);

/** Requests with a thread ID and paged results. */
export type PagedThreadMethod = {
  [M in ThreadMethod]: ClientRequests[M]["result"] extends { data: unknown[]; nextCursor: string | null }
    ? M
    : never;
}[ThreadMethod];

export type PageEntry<M extends PagedThreadMethod> = ClientRequests[M]["result"] extends {
  data: (infer Entry)[];
}
  ? Entry
  : never;

/** Calls about one thread, on a server that has it loaded. */
export interface ThreadCaller {
  readonly id: string;
  /** How to resolve input: against which folder, and whether the server shares this file system. */
  readonly inputContext: InputContext;
  request<M extends ThreadMethod>(
    method: M,
    params: ThreadParams<M>,
    options?: CallOptions,
  ): Promise<ClientRequests[M]["result"]>;
  /** Yields all entries of a paged result. Pages are fetched on demand. */
  pages<M extends PagedThreadMethod>(
    method: M,
    params: ThreadParams<M>,
    options?: CallOptions,
  ): AsyncGenerator<PageEntry<M>, void, undefined>;
}

/** Adds paging and the input context to the calls of a thread. */
export function createThreadCaller(
  thread: Pick<ThreadCaller, "id" | "request">,
  inputContext: InputContext,
): ThreadCaller {
  const request: ThreadCaller["request"] = (method, params, options) =>
    thread.request(method, params, options);
  return {
    id: thread.id,
    inputContext,
    request,
    pages: <M extends PagedThreadMethod>(method: M, params: ThreadParams<M>, options?: CallOptions) => {
      type Page = { data: PageEntry<M>[]; nextCursor: string | null };
      return paginate(async (cursor) => {
        const page = await request(method, { ...params, cursor }, options);
        return page as unknown as Page;
      });
    },
  };
}
