import type { NewSessionEvent } from "../api/event.ts";
import type { Database } from "../database.ts";
import type { ParkReason } from "../inbox/parked-inbox.ts";
import { emptyTurnResult } from "../journal/empty-turn-result.ts";
import { unloadThread } from "../parking/unload-thread.ts";
import type { AgentRollouts } from "./agent-rollouts.ts";
import type { LoadedThread } from "./loaded-thread.ts";
import { type ParkDeps, parkRequests, storeFiles } from "./park-requests.ts";
import type { SessionApprovals } from "./session-approvals.ts";

export interface ParkThreadDeps extends ParkDeps {
  readonly approvals: SessionApprovals;
  readonly agents: AgentRollouts;
  readonly ignoreEvents: () => void;
  /** Called if parking fails after events were ignored. Makes the thread be loaded again. */
  readonly reload: () => Promise<void>;
  readonly onWarning: (error: unknown, message: string) => void;
}

/**
 * Parks the requests of a thread whose process is alive, and unloads the thread. Events and lines of the thread's file that Codex
 * produces while it ends the turn are ignored, because the file was stored before. Returns the number of parked requests; if it
 * is 0, the thread is unchanged. If it rejects, the requests can still be answered. It rejects with `rollout_too_large` if the
 * store can't have the whole file.
 */
export async function parkThread(
  { codex, thread }: LoadedThread,
  reason: ParkReason,
  { approvals, agents, ignoreEvents, reload, onWarning, ...deps }: ParkThreadDeps,
): Promise<number> {
  const { database, owner, state } = deps;
  let isIgnoring = false;
  let count: number;
  await approvals.pause();
  try {
    // Codex deletes the files of the agents with the thread.
    await agents.followAll(codex, thread.id);
    // Stores all events and lines until now.
    await storeFiles(deps);
    const rows = await approvals.undelivered();
    // If all answers were sent, the turn continues by itself.
    if (rows.every(({ submitted_at: submittedAt }) => submittedAt !== null)) {
      approvals.resume();
      return 0;
    }
    ignoreEvents();
    isIgnoring = true;
    await database.journal.write({ owner });
    count = await parkRequests(rows, reason, deps, await endOfRunning(database, owner.sessionId));
  } catch (error) {
    if (isIgnoring) await reload();
    approvals.resume();
    throw error;
  }
  state.activeTurnId = undefined;
  // An interrupted thread would stay loaded. It is restored when the answers are delivered.
  await unloadThread(codex, thread.id).catch((error: unknown) => {
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
