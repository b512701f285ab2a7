import type { v2 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import { type OptionKeys, rejectUnknownOptions } from "../options/reject-unknown-options.ts";
import type { ThreadCaller, ThreadParams } from "./thread-caller.ts";

const LIST_TURNS: OptionKeys<Omit<v2.ThreadTurnsListParams, "threadId" | "cursor">> = {
  limit: true,
  sortDirection: true,
  itemsView: true,
};

const LIST_ITEMS: OptionKeys<Omit<v2.ThreadItemsListParams, "threadId" | "cursor">> = {
  turnId: true,
  limit: true,
  sortDirection: true,
};

/** The history of a thread, page by page: a long history is never loaded at once. */
export class ThreadHistory {
  readonly #thread: ThreadCaller;

  constructor(thread: ThreadCaller) {
    this.#thread = thread;
  }

  /** Yields the turns, newest first by default. Items are included only if `itemsView` asks for them. */
  turns(
    options: Omit<ThreadParams<"thread/turns/list">, "cursor"> = {},
    call: CallOptions = {},
  ): AsyncGenerator<v2.Turn, void, undefined> {
    rejectUnknownOptions("history.turns", options, LIST_TURNS);
    return this.#thread.pages("thread/turns/list", { sortDirection: "desc", ...options }, call);
  }

  /** Yields the items of all turns or of one, newest first by default. */
  items(
    options: Omit<ThreadParams<"thread/items/list">, "cursor"> = {},
    call: CallOptions = {},
  ): AsyncGenerator<v2.ThreadItemEntry, void, undefined> {
    rejectUnknownOptions("history.items", options, LIST_ITEMS);
    return this.#thread.pages("thread/items/list", { sortDirection: "desc", ...options }, call);
  }

  /** Yields the occurrences of a search term in this thread. */
  search(
    searchTerm: string,
    call: CallOptions = {},
  ): AsyncGenerator<v2.ThreadSearchOccurrence, void, undefined> {
    return this.#thread.pages("thread/searchOccurrences", { searchTerm }, call);
  }
}
