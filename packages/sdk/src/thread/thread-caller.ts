import type { ClientRequests } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import type { InputContext } from "../turn/input.ts";

/** The requests that are about one thread. */
export type ThreadMethod = {
  [M in keyof ClientRequests]: ClientRequests[M]["params"] extends { threadId: string } ? M : never;
}[keyof ClientRequests];

export type ThreadParams<M extends ThreadMethod> = Omit<ClientRequests[M]["params"], "threadId">;

/** The requests about one thread that answer in pages. */
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

/** What the parts of a thread need of it: calls that name the thread, on a server that has it loaded. */
export interface ThreadCaller {
  readonly id: string;
  /** How input is read: against which folder, and whether the server shares this machine's files. */
  readonly inputContext: InputContext;
  request<M extends ThreadMethod>(
    method: M,
    params: ThreadParams<M>,
    options?: CallOptions,
  ): Promise<ClientRequests[M]["result"]>;
  /** Every entry of a paged answer; pages are fetched as they are read. */
  pages<M extends PagedThreadMethod>(
    method: M,
    params: ThreadParams<M>,
    options?: CallOptions,
  ): AsyncGenerator<PageEntry<M>, void, undefined>;
}
