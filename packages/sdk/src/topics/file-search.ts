import type { v1 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import { pickCallOptions } from "./pick-call-options.ts";
import { openSubscription } from "./subscription.ts";
import type { TopicCaller } from "./topic-caller.ts";
import { uniqueId } from "../unique-id.ts";

/**
 * The results of a query so far; a later value replaces them. There is no end marker: the server's notification of the end names
 * no query and can arrive before the results.
 */
export interface FileSearchResults {
  readonly query: string;
  readonly files: readonly v1.FuzzyFileSearchResult[];
}

/** A search whose query can change until it is disposed. A slow reader gets only the newest results. */
export interface FileSearch extends AsyncIterable<FileSearchResults>, AsyncDisposable {
  /** Changes the query. The reader gets the new results. */
  update(query: string, options?: CallOptions): Promise<void>;
}

export async function startFileSearch(
  caller: TopicCaller,
  roots: string[],
  options: CallOptions,
): Promise<FileSearch> {
  const sessionId = uniqueId();
  const live = await openSubscription<FileSearchResults, unknown>(caller, {
    what: "The file search",
    merge: (_unread, next) => next,
    listen: (push) => [
      caller.on("fuzzyFileSearch/sessionUpdated", ({ sessionId: id, query, files }) => {
        if (id === sessionId) push({ query, files });
      }),
    ],
    start: () =>
      caller.request("fuzzyFileSearch/sessionStart", { sessionId, roots }, pickCallOptions(options)),
    stop: () => caller.request("fuzzyFileSearch/sessionStop", { sessionId }),
    signal: options.signal,
    // A reader stops at the end of one query and starts again when the query changes.
    outlivesReader: true,
  });
  return {
    update: async (query, call = {}) => {
      await caller.request("fuzzyFileSearch/sessionUpdate", { sessionId, query }, call);
    },
    [Symbol.asyncIterator]: () => live[Symbol.asyncIterator](),
    [Symbol.asyncDispose]: () => live[Symbol.asyncDispose](),
  };
}
