import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { posix } from "node:path";
import { z } from "zod";
import type { SavedRules } from "./ignore-rules.ts";

const version = z.object({
  size: z.number(),
  mtimeMs: z.number(),
  ctimeMs: z.number(),
  inode: z.number(),
});

const content = z.object({ offset: z.int(), length: z.int(), hash: z.string() });

/** A path's state at a snapshot. The content of files is stored. */
export type SavedEntry = z.output<typeof savedEntry>;

const savedEntry = z.discriminatedUnion("type", [
  z.object({ type: z.literal("file"), mode: z.int(), version, content }),
  z.object({ type: z.literal("link"), target: z.string() }),
  z.object({ type: z.literal("folder"), mode: z.int() }),
]);

/** Rejects paths outside the workspace, which must never be restored, even if the journal contains them. */
const insidePath = z.string().refine((path) => {
  const normal = posix.normalize(path);
  return normal === path && path !== "." && path !== ".." && !path.startsWith("../") && !path.startsWith("/");
});

const line = z.union([
  z.object({ set: z.array(z.tuple([insidePath, savedEntry.nullable()])) }),
  z.object({
    begin: z.int(),
    uncovered: z.array(z.string()),
    // Journals of older versions have no rules.
    rules: z.array(z.tuple([z.string(), z.string()])).default([]),
  }),
  z.object({ end: z.int() }),
]);

/** The state of the workspace when an unfinished transaction began. */
export interface UnfinishedTransaction {
  readonly entries: ReadonlyMap<string, SavedEntry>;
  /** Paths that can't be restored, because their state at the beginning is unknown. */
  readonly uncovered: ReadonlySet<string>;
  /** The ignore rules at the beginning. */
  readonly rules: SavedRules;
}

/** A journal that can't be read, so it is unknown whether there is an unfinished transaction. */
export interface DamagedJournal {
  /** The journal's path and the number of its first damaged line. */
  readonly damagedAt: string;
}

/** Records snapshots and transactions in a file, so that another process can undo an interrupted transaction. */
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
 * Finds the transaction that a journal's process did not finish, if there is one. A damaged journal is reported instead, because
 * a restore from an incomplete one would remove files that it does not contain.
 */
export function readUnfinished(path: string): UnfinishedTransaction | DamagedJournal | undefined {
  const entries = new Map<string, SavedEntry>();
  let unfinished: UnfinishedTransaction | undefined;
  for (const [index, text] of readLines(path).entries()) {
    const change = parseLine(text);
    if (!change) return { damagedAt: `${path}:${index + 1}` };
    if ("begin" in change) {
      const { uncovered, rules } = change;
      unfinished ??= { entries: new Map(entries), uncovered: new Set(uncovered), rules: new Map(rules) };
    } else if ("end" in change) {
      unfinished = undefined;
    } else {
      for (const [changed, entry] of change.set) {
        if (entry) entries.set(changed, entry);
        else entries.delete(changed);
      }
    }
  }
  return unfinished;
}

/** Reads all complete lines. The last line is incomplete if the process was killed while writing it. */
function readLines(path: string): readonly string[] {
  try {
    return readFileSync(path, "utf8").split("\n").slice(0, -1);
  } catch (error) {
    // The process was killed before its first snapshot.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function parseLine(text: string): z.output<typeof line> | undefined {
  try {
    return line.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
