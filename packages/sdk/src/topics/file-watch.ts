import type { CallOptions } from "@codexkit/rpc";
import { pickCallOptions } from "./pick-call-options.ts";
import { openSubscription } from "./subscription.ts";
import type { TopicCaller } from "./topic-caller.ts";
import { uniqueId } from "../unique-id.ts";

/** Paths that changed since the last read, each once. */
export interface ChangedPaths {
  readonly paths: readonly string[];
}

/** Yields changes below a path until it is disposed, its reader stops, or the server exits. */
export interface FileWatch extends AsyncIterable<ChangedPaths>, AsyncDisposable {
  /** The watched path with symbolic links resolved. Changed paths start with it. */
  readonly path: string;
}

export async function watchFiles(
  caller: TopicCaller,
  path: string,
  options: CallOptions,
): Promise<FileWatch> {
  const watchId = uniqueId();
  const live = await openSubscription<ChangedPaths, { path: string }>(caller, {
    what: "Watching files",
    merge: (unread, next) => ({ paths: [...new Set([...unread.paths, ...next.paths])] }),
    listen: (push) => [
      caller.on("fs/changed", (change) => {
        if (change.watchId === watchId) push({ paths: change.changedPaths });
      }),
    ],
    start: () => caller.request("fs/watch", { watchId, path }, pickCallOptions(options)),
    stop: () => caller.request("fs/unwatch", { watchId }),
    signal: options.signal,
  });
  return {
    path: live.started.path,
    [Symbol.asyncIterator]: () => live[Symbol.asyncIterator](),
    [Symbol.asyncDispose]: () => live[Symbol.asyncDispose](),
  };
}
