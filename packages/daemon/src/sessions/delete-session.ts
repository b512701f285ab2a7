import { createProblem } from "../api/problem.ts";
import type { CodexPool } from "../codex/pool.ts";
import type { Step } from "./command-executor.ts";
import type { CommandQueue } from "./command-queue.ts";
import type { LoadedThread } from "./loaded-thread.ts";
import type { SessionApprovals } from "./session-approvals.ts";
import type { SessionState } from "./session-state.ts";

export interface DeleteSessionDeps {
  readonly pool: CodexPool;
  readonly approvals: SessionApprovals;
  readonly queue: CommandQueue;
  readonly onWarning: (error: unknown, message: string) => void;
}

/**
 * Deletes the thread of a session, and ends its approvals and commands. Its turn must have been interrupted. Its rows are purged
 * when the command's result is stored.
 */
export async function deleteSession(
  state: SessionState,
  loaded: LoadedThread | undefined,
  { pool, approvals, queue, onWarning }: DeleteSessionDeps,
): Promise<Step> {
  await deleteThread(state, loaded, pool).catch((error: unknown) => {
    // The session is deleted nevertheless. Its rollout file stays in the Codex home.
    onWarning(error, "The thread of a deleted session could not be deleted");
  });
  await approvals.withdrawAll("The session was deleted.");
  await queue.refuseAll(createProblem("session_deleted", "The session was deleted."));
  return {
    result: { ok: true },
    options: { changes: { phase: "deleted", activeTurnId: null }, events: [{ type: "session.deleted" }] },
  };
}

async function deleteThread(
  { threadId, sessionId, setup }: SessionState,
  loaded: LoadedThread | undefined,
  pool: CodexPool,
): Promise<void> {
  if (threadId === undefined) return;
  if (loaded) {
    await loaded.thread.terminals.clean().catch(() => {});
    await loaded.thread.delete();
    return;
  }
  using lease = await pool.acquire({ sessionId, dedicated: setup.dedicated === true });
  await lease.server.codex.deleteThread(threadId);
}
