import type { CallOptions } from "@codexkit/rpc";
import { randomUUID } from "node:crypto";
import { callOptions } from "./call-options.ts";
import { openLiveFeed } from "./live-feed.ts";
import type { TopicCaller } from "./topic-caller.ts";

/** What changed since the reader last looked, each path once. */
export interface FileChange {
  readonly paths: readonly string[];
}

/** Changes of a path until it is disposed of, its reader leaves, or the server ends. */
export interface FileWatch extends AsyncIterable<FileChange>, AsyncDisposable {
  /** The path without symbolic links: those of the changes begin with it. */
  readonly path: string;
}

export async function watchFiles(
  caller: TopicCaller,
  path: string,
  options: CallOptions,
): Promise<FileWatch> {
  const watchId = randomUUID();
  const live = await openLiveFeed<FileChange, { path: string }>(caller, {
    what: "Watching files",
    merge: (unread, next) => ({ paths: [...new Set([...unread.paths, ...next.paths])] }),
    listen: (push) => [
      caller.on("fs/changed", (change) => {
        if (change.watchId === watchId) push({ paths: change.changedPaths });
      }),
    ],
    start: () => caller.request("fs/watch", { watchId, path }, callOptions(options)),
    stop: () => caller.request("fs/unwatch", { watchId }),
    signal: options.signal,
  });
  return {
    path: live.started.path,
    [Symbol.asyncIterator]: () => live[Symbol.asyncIterator](),
    [Symbol.asyncDispose]: () => live[Symbol.asyncDispose](),
  };
}
