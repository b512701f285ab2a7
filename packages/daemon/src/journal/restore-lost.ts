import { StoreError, type Store } from "@codexkit/store";
import { sql } from "kysely";
import type { SessionEvent } from "../api/event.ts";
import type { DaemonTransaction } from "../database/ownership.ts";
import type { DaemonTables, EventRow } from "../database/tables.ts";
import { encodeEvent, toEvent } from "./event-row.ts";
import type { PassedFence } from "./fence.ts";
import { insertEvents } from "./insert-events.ts";
import type { LostWrites, RecentCommit } from "./recent-writes.ts";
import type { WriteGroup } from "./write.ts";

/** Applies the changes that follow from the events of a group. */
type ApplyEffects = (
  group: WriteGroup,
  fence: PassedFence,
  events: readonly SessionEvent[],
) => Promise<unknown>;

/**
 * Stores lost writes again, with the sequence numbers that readers have seen, and a `gap` for those that are no longer in memory.
 * Resolves to the fence with the corrected sequence number.
 */
export async function restoreLost(
  store: Store<DaemonTables>,
  trx: DaemonTransaction,
  {
    fence,
    before,
    lost,
  }: { readonly fence: PassedFence; readonly before: number; readonly lost: LostWrites },
  applyEffects: ApplyEffects,
): Promise<PassedFence> {
  const lastSeq = lost.lastSeq + (fence.lastSeq - before);
  await trx.updateTable("session").set({ last_seq: lastSeq }).where("id", "=", fence.id).execute();
  await insertEvents(trx, store.kind, withGaps(fence, before, lost));
  const corrected = { ...fence, lastSeq };
  for (const commit of lost.commits) await applyAgain(trx, commit, corrected, applyEffects);
  return corrected;
}

function withGaps(fence: PassedFence, before: number, { lastSeq, commits }: LostWrites): EventRow[] {
  const rows: EventRow[] = [];
  let next = before + 1;
  const fillTo = (to: number): void => {
    if (to < next) return;
    const { event, data } = encodeEvent({ type: "gap", from: next, to, reason: "store_rewound" });
    const { id, epoch, at } = fence;
    rows.push({ session_id: id, seq: to, epoch, at, type: event.type, turn_id: null, item_id: null, data });
  };
  for (const row of commits.flatMap((commit) => commit.rows)) {
    if (row.seq < next) continue;
    fillTo(row.seq - 1);
    rows.push(row);
    next = row.seq + 1;
  }
  fillTo(lastSeq);
  return rows;
}

/**
 * Applies the effects of a write again. They may refer to rows that are lost too, such as a command. Then only the effects of its
 * events are applied.
 */
async function applyAgain(
  trx: DaemonTransaction,
  { owner, writes, rows }: RecentCommit,
  fence: PassedFence,
  applyEffects: ApplyEffects,
): Promise<void> {
  const events = writes
    .flatMap((write) => write.events)
    .map((encoded, index) => toEvent(encoded, rows[index] as EventRow))
    .filter(({ type }) => type !== "item.delta");
  await sql`savepoint restored_write`.execute(trx);
  try {
    await applyEffects({ owner, writes }, fence, events);
  } catch (error) {
    if (StoreError.is(error)) throw error;
    await sql`rollback to savepoint restored_write`.execute(trx);
    await applyEffects({ owner, writes: [] }, fence, events);
  }
  await sql`release savepoint restored_write`.execute(trx);
}
