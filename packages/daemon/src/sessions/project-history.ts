import type { Thread, v2 } from "codexkit";
import type { NewSessionEvent } from "../api/event.ts";
import type { Journal } from "../journal/journal.ts";
import { isRefused } from "./accepted-messages.ts";
import { knownTurns, Merge, TURNS } from "./recover.ts";

/** Turns whose events are stored together. */
const BATCH = 20;
/** Turns that are read at most. Older ones are in the thread, but not in the journal. */
const MAX_TURNS = 100_000;

/**
 * Reads the older part of a long history into the journal, oldest first and in batches: that of an imported thread or of a
 * fork. The newest turns are left to `recoverThread`, which reads all that it compares at once.
 */
export async function projectHistory(
  sessionId: string,
  thread: Thread,
  {
    journal,
    append,
    reason,
  }: {
    readonly journal: Journal;
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
  for await (const turn of thread.history.turns({ itemsView: "full", limit: BATCH, sortDirection: "asc" })) {
    if (!older.delete(turn.id)) continue;
    batch.push(turn);
    if (batch.length === BATCH) await store();
    if (older.size === 0) break;
  }
  if (batch.length > 0) await store();
}

/** IDs of the turns that the journal does not have, without the newest. */
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
    // A thread that has no message yet has no history either.
    if (!isRefused(error)) throw error;
  }
  return new Set(missing.slice(TURNS));
}
