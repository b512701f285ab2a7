import type { v1 } from "@codexkit/protocol";
import type { CallOptions } from "@codexkit/rpc";
import { randomUUID } from "node:crypto";
import { callOptions } from "./call-options.ts";
import { openLiveFeed } from "./live-feed.ts";
import type { TopicCaller } from "./topic-caller.ts";

/**
 * What a query has found so far; more of it replaces this. Nothing says that it is all: the server's notice of that names no
 * query and may overtake the results.
 */
export interface FileSearchResults {
  readonly query: string;
  readonly files: readonly v1.FuzzyFileSearchResult[];
}

/** A search whose query can change, until it is disposed of. A slow reader gets the newest results only. */
export interface FileSearch extends AsyncIterable<FileSearchResults>, AsyncDisposable {
  /** Searches for something else; its results come to the reader. */
  update(query: string, options?: CallOptions): Promise<void>;
}

export async function startFileSearch(
  caller: TopicCaller,
  roots: string[],
  options: CallOptions,
): Promise<FileSearch> {
  const sessionId = randomUUID();
  const live = await openLiveFeed<FileSearchResults, unknown>(caller, {
    what: "The file search",
    merge: (_unread, next) => next,
    listen: (push) => [
      caller.on("fuzzyFileSearch/sessionUpdated", ({ sessionId: id, query, files }) => {
        if (id === sessionId) push({ query, files });
      }),
    ],
    start: () => caller.request("fuzzyFileSearch/sessionStart", { sessionId, roots }, callOptions(options)),
    stop: () => caller.request("fuzzyFileSearch/sessionStop", { sessionId }),
    signal: options.signal,
    // One query is read to its end, then somebody types on.
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
