import type { NewSessionEvent } from "../api/event.ts";
import type { Database } from "../database.ts";
import type { ParkReason } from "../inbox/parked-inbox.ts";
import { emptyTurnResult } from "../journal/empty-turn-result.ts";
import type { LoadedThread } from "./loaded-thread.ts";
import { type ParkDeps, parkRequests } from "./park-requests.ts";
import type { SessionApprovals } from "./session-approvals.ts";

export interface ParkThreadDeps extends ParkDeps {
  readonly approvals: SessionApprovals;
  readonly ignoreEvents: () => void;
  readonly onWarning: (error: unknown, message: string) => void;
}

/**
 * Parks the requests of a thread whose process is alive, and unloads the thread. Events and lines of the thread's file that Codex
 * produces while it ends the turn are ignored, because the file was stored before. Returns the number of parked requests; if it
 * is 0, the thread is unchanged.
 */
export async function parkThread(
  { codex, thread }: LoadedThread,
  reason: ParkReason,
  { approvals, ignoreEvents, onWarning, ...deps }: ParkThreadDeps,
): Promise<number> {
  const { database, owner, state } = deps;
  await approvals.pause();
  // Stores all events until now.
  await database.journal.write({ owner });
  const rows = await approvals.undelivered();
  // If all answers were sent, the turn continues by itself.
  if (rows.every(({ submitted_at: submittedAt }) => submittedAt !== null)) {
    approvals.resume();
    return 0;
  }
  ignoreEvents();
  await database.journal.write({ owner });
  const count = await parkRequests(rows, reason, deps, await endOfRunning(database, owner.sessionId));
  state.activeTurnId = undefined;
  // Deleted, because an interrupted thread would stay loaded. It is restored when the answers are delivered.
  await codex.deleteThread(thread.id).catch((error: unknown) => {
    onWarning(error, "The thread of a parked session could not be unloaded");
  });
  return count;
}

/** Creates the events that end the running items and turns of a session whose process is about to end. */
async function endOfRunning({ journal }: Database, sessionId: string): Promise<NewSessionEvent[]> {
  const items = await journal.runningItems(sessionId);
  const { rows } = await journal.turns(sessionId, { limit: 200 });
  return [
    ...items.map(
      ({ item_id: itemId, turn_id: turnId }) => ({ type: "item.abandoned", itemId, turnId }) as const,
    ),
    ...rows
      .filter(({ status }) => status === "running")
      .map(({ turn_id: turnId, thread_id: threadId }) => {
        const result = emptyTurnResult(threadId, turnId, "interrupted");
        return { type: "turn.interrupted", threadId, turnId, result } as const;
      }),
  ];
}
