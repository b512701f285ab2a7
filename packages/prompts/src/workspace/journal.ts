import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { posix } from "node:path";
import { z } from "zod";

const version = z.object({
  size: z.number(),
  mtimeMs: z.number(),
  ctimeMs: z.number(),
  inode: z.number(),
});

const content = z.object({ offset: z.int(), length: z.int(), hash: z.string() });

/** A path as it was at a snapshot. Files have their content stored. */
export type SavedEntry = z.output<typeof savedEntry>;

const savedEntry = z.discriminatedUnion("type", [
  z.object({ type: z.literal("file"), mode: z.int(), version, content }),
  z.object({ type: z.literal("link"), target: z.string() }),
  z.object({ type: z.literal("folder"), mode: z.int() }),
]);

/** Nothing outside the workspace may be restored, whatever the file says. */
const insidePath = z.string().refine((path) => {
  const normal = posix.normalize(path);
  return normal === path && path !== "." && path !== ".." && !path.startsWith("../") && !path.startsWith("/");
});

const line = z.union([
  z.object({ set: z.array(z.tuple([insidePath, savedEntry.nullable()])) }),
  z.object({ begin: z.int(), uncovered: z.array(z.string()) }),
  z.object({ end: z.int() }),
]);

/** The workspace when an unfinished transaction began. */
export interface UnfinishedTransaction {
  readonly entries: ReadonlyMap<string, SavedEntry>;
  /** Paths whose state at the beginning is unknown, so that they can't be restored. */
  readonly uncovered: ReadonlySet<string>;
}

/** Records snapshots and transactions in a file, from which another process can undo an interrupted transaction. */
export class Journal implements Disposable {
  readonly #fd: number;

  constructor(path: string) {
    this.#fd = openSync(path, "a", 0o600);
  }

  write(entry: z.input<typeof line>): void {
    writeSync(this.#fd, `${JSON.stringify(entry)}\n`);
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }
}

/**
 * Finds the transaction that a journal's process did not finish. Undefined if there is none, or if the journal is damaged: a
 * restore from an incomplete journal would remove files that it does not know.
 */
export function readUnfinished(path: string): UnfinishedTransaction | undefined {
  const entries = new Map<string, SavedEntry>();
  let unfinished: UnfinishedTransaction | undefined;
  try {
    const text = readFileSync(path, "utf8");
    // The last line is incomplete if the process was killed while writing it.
    const complete = text.slice(0, text.lastIndexOf("\n") + 1);
    for (const json of complete.split("\n").slice(0, -1)) {
      const change = line.parse(JSON.parse(json));
      if ("begin" in change) {
        unfinished ??= { entries: new Map(entries), uncovered: new Set(change.uncovered) };
      } else if ("end" in change) {
        unfinished = undefined;
      } else {
        for (const [changed, entry] of change.set) {
          if (entry) entries.set(changed, entry);
          else entries.delete(changed);
        }
      }
    }
  } catch {
    return undefined;
  }
  return unfinished;
}
