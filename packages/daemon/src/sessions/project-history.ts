import type { Thread, v2 } from "codexkit";
import type { NewSessionEvent } from "../api/event.ts";
import type { Journal } from "../journal/journal.ts";
import { isRefused } from "./accepted-messages.ts";
import { type HistoryFiles, readTurns } from "./read-turns.ts";
import { knownTurns, Merge, TURNS } from "./recover.ts";

/** Number of turns whose events are stored together. */
const BATCH = 20;
/** Maximum number of turns that are read. Older ones stay in the thread only. */
const MAX_TURNS = 100_000;

/**
 * Reads the older part of the long history of an imported or forked thread into the journal, oldest first and in batches. The
 * newest turns are left to `recoverThread`, which holds all turns that it compares in memory.
 */
export async function projectHistory(
  sessionId: string,
  thread: Thread,
  {
    journal,
    files,
    append,
    reason,
  }: {
    readonly journal: Journal;
    readonly files: HistoryFiles;
    readonly append: (events: readonly NewSessionEvent[]) => Promise<unknown>;
    readonly reason: string;
  },
): Promise<void> {
  const older = await olderTurns(sessionId, thread, journal);
  if (older.size === 0) return;
  const batch: v2.Turn[] = [];
  const store = async (): Promise<void> => {
    const merge = new Merge(thread.id, { running: [], known: new Map(), isBusy: false, isParked: false });
    for (const turn of batch.splice(0)) merge.addTurn(turn, new Map());
    await append(merge.finish(reason).events);
  };
  const isNeeded = (turnId: string): boolean => older.has(turnId);
  for await (const turn of readTurns(thread, files, { limit: BATCH, sortDirection: "asc", isNeeded })) {
    if (!older.delete(turn.id)) continue;
    batch.push(turn);
    if (batch.length === BATCH) await store();
    if (older.size === 0) break;
  }
  if (batch.length > 0) await store();
}

/** Returns the IDs of the turns that the journal does not have, except the newest ones. */
async function olderTurns(sessionId: string, thread: Thread, journal: Journal): Promise<Set<string>> {
  const known = await knownTurns(journal, sessionId);
  const missing: string[] = [];
  try {
    for await (const { id } of thread.history.turns({ itemsView: "notLoaded", limit: TURNS })) {
      const row = known.get(id);
      if ((row && row.status !== "running") || missing.length === MAX_TURNS) break;
      missing.push(id);
    }
  } catch (error) {
    // Codex refuses to list the history of a thread without messages.
    if (!isRefused(error)) throw error;
  }
  return new Set(missing.slice(TURNS));
}
