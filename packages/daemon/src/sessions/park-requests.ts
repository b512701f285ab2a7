import type { NewSessionEvent } from "../api/event.ts";
import type { Database } from "../database.ts";
import type { Ownership } from "../database/ownership.ts";
import type { ApprovalRow } from "../database/tables.ts";
import type { ParkedProgress, ParkReason } from "../inbox/parked-inbox.ts";
import { DaemonError } from "../errors.ts";
import { describeOpenWork, findCall, findWaitingTools } from "../parking/open-work.ts";
import {
  findCalls,
  findOpenCalls,
  hasOutput,
  lengthAtRequest,
  readLines,
  type RolloutLine,
} from "../parking/rollout-lines.ts";
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
 * Stores the rest of the session's files. Rejects with `rollout_too_large` if the store can't have all of them. Then the requests
 * can't be parked, because their answers are delivered to a thread that is restored from the stored files.
 */
export async function storeFiles({ database, owner, rollouts }: ParkDeps): Promise<void> {
  // Stores what was collected before.
  await database.journal.write({ owner });
  await rollouts.resume();
  await database.journal.write({ owner, ...rollouts.collectAll() });
  await database.rollouts.requireWhole(owner.sessionId);
}

/**
 * Parks requests whose process has ended or is about to: stores the thread's file, and the other work that was in progress. Returns
 * the number of parked requests. If all of them were answered and their calls have an output, they are marked as delivered instead.
 * Rejects if the whole file can't be stored.
 */
export async function parkRequests(
  rows: readonly ApprovalRow[],
  reason: ParkReason,
  { database, owner, state, rollouts }: ParkDeps,
  events: readonly NewSessionEvent[] = [],
): Promise<number> {
  const { journal, inbox, parked } = database;
  const file = (await rollouts.contents(state.threadId ?? "")) ?? new Uint8Array();
  // Parsed once, because the file may be large.
  const lines = [...readLines(file)];
  const ended = rows.filter((row) => isAnsweredIn(lines, row, state.threadId));
  if (ended.length === rows.length) {
    for (const { id } of ended) await inbox.delivered(owner, id, "Codex had received the answer.");
    return 0;
  }
  const lengths = rows.flatMap((row) => {
    const length = row.thread_id === state.threadId ? row.rollout_bytes : parseProgress(row).rootBytes;
    return length === null || length === undefined ? [] : [length];
  });
  const end = lengthAtRequest(file, Math.min(...lengths, file.length));
  const waiting = lines.filter(({ atByte }) => atByte < end);
  const calls = findOpenCalls(waiting);
  const turnId = rows.find((row) => row.thread_id === state.threadId)?.turn_id ?? undefined;
  const items = turnId === undefined ? [] : await journal.items(owner.sessionId, { turnId, limit: 1000 });
  const waitingIds = new Set([
    ...rows.flatMap((row) =>
      [row.item_id, findCall(row, calls)?.callId].filter((id) => typeof id === "string"),
    ),
    ...findWaitingTools(rows, items),
  ]);
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
    also: rollouts.collectWhole(),
  });
  return rows.length;
}

/**
 * Finds the requests of an ended process that can be parked. None can if the store can't have the whole file: then they are
 * withdrawn with their turn.
 *
 * @param undelivered Requests whose answer Codex has not received or not confirmed.
 */
export async function findLost(
  undelivered: readonly ApprovalRow[],
  deps: ParkDeps,
): Promise<readonly ApprovalRow[]> {
  const lost = [...undelivered, ...(await findUnconfirmed(deps))];
  if (lost.length === 0) return [];
  try {
    await storeFiles(deps);
    return lost;
  } catch (error) {
    if (DaemonError.is(error) && error.code === "rollout_too_large") return [];
    throw error;
  }
}

/**
 * Finds requests of the session's running turn whose answer was sent to Codex, but whose calls have no output. If the process has
 * ended, it may have ended before it acted on the answer.
 */
async function findUnconfirmed({
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
  const open = findOpenCalls(readLines((await rollouts.contents(threadId)) ?? new Uint8Array()));
  return ofTurn.filter((row) => findCall(row, open) !== undefined);
}

function isAnsweredIn(
  lines: readonly RolloutLine[],
  row: ApprovalRow,
  threadId: string | undefined,
): boolean {
  if (row.submitted_at === null || row.thread_id !== threadId) return false;
  const call = findCall(row, findCalls(lines).toReversed());
  return call !== undefined && hasOutput(lines, call);
}

function parseProgress({ progress }: ApprovalRow): ParkedProgress {
  return progress === null ? {} : (JSON.parse(progress) as ParkedProgress);
}

/** Keeps only the progress that was stored with the request. The rest is from an earlier time when it was parked. */
function pick({ rootBytes }: ParkedProgress): ParkedProgress {
  return rootBytes === undefined ? {} : { rootBytes };
}
