import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Thread, v2 } from "codexkit";
import { DaemonError } from "../errors.ts";
import type { RolloutStore } from "../rollouts/rollout-store.ts";

/**
 * Bytes of a response, by the bytes of the rollout lines that it is made of. Codex may write them in up to twice as many, and a
 * message above 128 MiB would close the connection of all sessions.
 */
const RESPONSE_BYTES = 64 * 1024 * 1024;
const MAX_ITEMS = 100;
const NEWLINE = 10;

/** Where the history of a session's thread is stored. */
export interface HistoryFiles {
  readonly sessionId: string;
  readonly rollouts: RolloutStore;
  readonly codexHome: string;
}

export interface ReadTurnsOptions {
  /** Turns of one response, if it can't become too large. */
  readonly limit: number;
  readonly sortDirection?: "asc" | "desc";
  /** Whether the items of a turn are needed. The turn is yielded in any case. */
  readonly isNeeded?: (turnId: string) => boolean;
}

/**
 * Yields the turns of a thread with their items, newest first by default, in responses of limited size. Rejects with
 * `unprocessable` if a single item may be too large.
 */
export async function* readTurns(
  thread: Thread,
  files: HistoryFiles,
  { isNeeded = () => true, ...options }: ReadTurnsOptions,
): AsyncGenerator<v2.Turn, void, undefined> {
  const limit = await itemsPerResponse(files);
  if (limit === undefined) {
    yield* thread.history.turns({ itemsView: "full", ...options });
    return;
  }
  for await (const turn of thread.history.turns({ itemsView: "notLoaded", ...options })) {
    const items: v2.ThreadItem[] = [];
    if (isNeeded(turn.id)) {
      const entries = thread.history.items({ turnId: turn.id, limit, sortDirection: "asc" });
      for await (const { item } of entries) items.push(item);
    }
    yield { ...turn, items };
  }
}

/** Undefined if even the whole history fits into one response. */
async function itemsPerResponse({
  sessionId,
  rollouts,
  codexHome,
}: HistoryFiles): Promise<number | undefined> {
  let bytes = 0;
  let longestLine = 1;
  // The history of the thread does not include those of its agents.
  const files = (await rollouts.lineage(sessionId)).filter(({ role }) => role !== "agent");
  const sizes = await Promise.all(
    files.map(async ({ path, bytes: stored }) => {
      // The end of the file may not be stored yet. Codex may have compressed or archived it.
      const local = await stat(join(codexHome, path)).catch(() => undefined);
      return Math.max(stored, local?.size ?? 0);
    }),
  );
  for (const size of sizes) bytes += size;
  if (bytes <= RESPONSE_BYTES) return undefined;
  for (const [index, { path }] of files.entries()) {
    const length = await longestLineOf(join(codexHome, path)).catch(() => sizes[index] ?? 0);
    longestLine = Math.max(longestLine, length);
  }
  if (longestLine > RESPONSE_BYTES) {
    throw new DaemonError(
      "unprocessable",
      `The thread has an item of up to ${longestLine} bytes, and one above ${RESPONSE_BYTES} bytes can't be read from Codex. Fork the thread before that item.`,
    );
  }
  return Math.min(MAX_ITEMS, Math.floor(RESPONSE_BYTES / longestLine));
}

async function longestLineOf(path: string): Promise<number> {
  let longest = 0;
  let length = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 }) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      longest = Math.max(longest, length + end - start);
      length = 0;
      start = end + 1;
    }
    length += chunk.length - start;
  }
  return Math.max(longest, length);
}
