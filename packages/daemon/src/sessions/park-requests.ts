import type { NewSessionEvent } from "../api/event.ts";
import type { Database } from "../database.ts";
import type { Ownership } from "../database/ownership.ts";
import type { ApprovalRow } from "../database/tables.ts";
import type { ParkedProgress, ParkReason } from "../inbox/parked-inbox.ts";
import { describeOpenWork, findCall } from "../parking/open-work.ts";
import { findCalls, findOpenCalls, hasOutput, lengthAtRequest } from "../parking/rollout-lines.ts";
import type { RolloutShipper } from "./rollout-shipper.ts";
import type { SessionState } from "./session-state.ts";

export interface ParkDeps {
  readonly database: Database;
  readonly owner: Ownership;
  readonly state: SessionState;
  readonly rollouts: RolloutShipper;
}

const NOTES: Readonly<Record<ParkReason, string>> = {
  crash: "The process that sent the request has ended. The answer will be delivered when it arrives.",
  drain: "The daemon was shut down. The answer will be delivered when it arrives.",
  memory: "The machine was short of memory. The answer will be delivered when it arrives.",
  request: "The session was parked. The answer will be delivered when it arrives.",
};

/**
 * Parks requests whose process has ended or is about to: stores the thread's file, and the other work that was in progress. Returns
 * the number of parked requests. If all of them were answered and their calls have an output, they are marked as delivered instead.
 */
export async function parkRequests(
  rows: readonly ApprovalRow[],
  reason: ParkReason,
  { database, owner, state, rollouts }: ParkDeps,
  events: readonly NewSessionEvent[] = [],
): Promise<number> {
  const { journal, inbox, parked } = database;
  const file = (await rollouts.contents(state.threadId ?? "")) ?? new Uint8Array();
  const ended = rows.filter((row) => isAnsweredIn(file, row, state.threadId));
  if (ended.length === rows.length) {
    for (const { id } of ended) await inbox.delivered(owner, id, "Codex had received the answer.");
    return 0;
  }
  const lengths = rows.flatMap((row) => {
    const length = row.thread_id === state.threadId ? row.rollout_bytes : parseProgress(row).rootBytes;
    return length === null || length === undefined ? [] : [length];
  });
  const waiting = file.subarray(0, lengthAtRequest(file, Math.min(...lengths, file.length)));
  const calls = findOpenCalls(waiting);
  const waitingIds = new Set(
    rows.flatMap((row) => [row.item_id, findCall(row, calls)?.callId].filter((id) => typeof id === "string")),
  );
  const turnId = rows.find((row) => row.thread_id === state.threadId)?.turn_id ?? undefined;
  const items = turnId === undefined ? [] : await journal.items(owner.sessionId, { turnId, limit: 1000 });
  const work = describeOpenWork(waiting, items, waitingIds);
  await parked.park(owner, {
    note: NOTES[reason],
    approvals: rows.map((row) => ({
      id: row.id,
      progress: {
        ...pick(parseProgress(row)),
        reason,
        ...work,
        ...(row.submitted_at === null ? {} : { wasSubmitted: true }),
      },
    })),
    events,
    changes: { activeTurnId: null },
    ...rollouts.collectAll(),
  });
  return rows.length;
}

/**
 * Finds requests of the session's running turn whose answer was sent to Codex, but whose calls have no output. If the process has
 * ended, it may have ended before it acted on the answer.
 */
export async function findUnconfirmed({
  database,
  owner,
  state: { threadId, activeTurnId },
  rollouts,
}: ParkDeps): Promise<readonly ApprovalRow[]> {
  if (threadId === undefined || activeTurnId === undefined) return [];
  const { rows } = await database.inbox.list({ sessionId: owner.sessionId, state: "delivered", limit: 200 });
  const ofTurn = rows.filter(
    (row) =>
      row.turn_id === activeTurnId &&
      row.thread_id === threadId &&
      row.parked_at === null &&
      row.submitted_at !== null,
  );
  if (ofTurn.length === 0) return [];
  const open = findOpenCalls((await rollouts.contents(threadId)) ?? new Uint8Array());
  return ofTurn.filter((row) => findCall(row, open) !== undefined);
}

function isAnsweredIn(file: Uint8Array, row: ApprovalRow, threadId: string | undefined): boolean {
  if (row.submitted_at === null || row.thread_id !== threadId) return false;
  const call = findCall(row, findCalls(file).toReversed());
  return call !== undefined && hasOutput(file, call);
}

function parseProgress({ progress }: ApprovalRow): ParkedProgress {
  return progress === null ? {} : (JSON.parse(progress) as ParkedProgress);
}

/** Keeps only the progress that was stored with the request. The rest is from an earlier time when it was parked. */
function pick({ rootBytes }: ParkedProgress): ParkedProgress {
  return rootBytes === undefined ? {} : { rootBytes };
}
