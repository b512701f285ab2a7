import type { Store } from "@codexkit/store";
import { sql } from "kysely";
import type { SessionEvent } from "../api/event.ts";
import type { DaemonTransaction } from "../database/ownership.ts";
import { toColumns } from "../database/session-columns.ts";
import type { DaemonTables, EventRow, SessionTable } from "../database/tables.ts";
import type { EncodedEvent } from "./event-row.ts";
import { passFences, type PassedFence } from "./fence.ts";
import { insertEvents } from "./insert-events.ts";
import { project } from "./projection.ts";
import { storeProjection } from "./store-projection.ts";
import type { PendingWrite, WriteGroup } from "./write.ts";

/** The outcome of a transaction: the events of each write, or undefined for writes whose owner was fenced. */
export interface CommitOutcome {
  readonly stored: Map<PendingWrite, readonly SessionEvent[] | undefined>;
  /** Whether a column that lists show was changed. */
  readonly hasSessionChanges: boolean;
}

/** Stores the writes of several owners. Writes of a fenced owner store nothing and don't disturb the others. */
export async function commitGroups(
  store: Store<DaemonTables>,
  trx: DaemonTransaction,
  groups: readonly WriteGroup[],
  appendId: string,
): Promise<CommitOutcome> {
  const requests = groups.map(({ owner, writes }) => ({
    owner,
    count: writes.reduce((sum, { events }) => sum + events.length, 0),
  }));
  const fences = await passFences(store, trx, requests, appendId);
  const stored: CommitOutcome["stored"] = new Map();
  const rows: EventRow[] = [];
  const passed: { group: WriteGroup; fence: PassedFence; events: SessionEvent[] }[] = [];
  for (const [index, group] of groups.entries()) {
    const fence = fences.get(group.owner);
    if (!fence) {
      for (const write of group.writes) stored.set(write, undefined);
      continue;
    }
    let seq = fence.lastSeq - (requests[index]?.count ?? 0);
    const events: SessionEvent[] = [];
    for (const write of group.writes) {
      const own: SessionEvent[] = [];
      for (const encoded of write.events) {
        seq += 1;
        own.push(toEvent(encoded, seq, fence));
        rows.push(toRow(encoded, seq, fence));
      }
      stored.set(write, own);
      for (const event of own) events.push(event);
    }
    passed.push({ group, fence, events });
  }
  await insertEvents(trx, store.kind, rows);
  let hasSessionChanges = false;
  for (const { group, fence, events } of passed) {
    const columns = await applyEffects(trx, group, fence, events);
    hasSessionChanges ||= columns > 0;
  }
  return { stored, hasSessionChanges };
}

/** Updates items, turns and the session, and runs what the callers added. Returns the number of changed session columns. */
async function applyEffects(
  trx: DaemonTransaction,
  { owner: { sessionId }, writes }: WriteGroup,
  fence: PassedFence,
  events: readonly SessionEvent[],
): Promise<number> {
  const changes = writes.map(({ request }) => request.changes ?? {});
  const threadId = changes.findLast((change) => change.threadId !== undefined)?.threadId ?? fence.threadId;
  const projection = project(events, threadId);
  await storeProjection(trx, sessionId, projection);
  // Explicit changes win over those that follow from events.
  const columns: Partial<SessionTable> = Object.assign(
    { ...projection.session },
    ...changes.map((change) => toColumns(change, fence.at)),
  );
  const count = Object.keys(columns).length;
  if (count > 0) {
    await trx
      .updateTable("session")
      .set({ ...columns, updated_at: fence.at })
      .where("id", "=", sessionId)
      .execute();
  }
  for (const { request } of writes) await request.also?.(trx);
  if (projection.hasTurnEnded || writes.some(({ request }) => request.mayBecomeIdle)) {
    await clearReady(trx, sessionId);
  }
  return count;
}

/** A session without commands and without a turn needs no owner. */
async function clearReady(trx: DaemonTransaction, sessionId: string): Promise<void> {
  await trx
    .updateTable("session")
    .set({ ready_at: null })
    .where("id", "=", sessionId)
    .where("active_turn_id", "is", null)
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom("command")
            .select("id")
            .where("session_id", "=", sessionId)
            .where("finished_at", "is", null),
        ),
      ),
    )
    .execute();
}

function toEvent({ event }: EncodedEvent, seq: number, { epoch, at }: Position): SessionEvent {
  return { seq, epoch, at, ...event };
}

function toRow(
  { event, turnId, itemId, data }: EncodedEvent,
  seq: number,
  { id, epoch, at }: Position,
): EventRow {
  return { session_id: id, seq, epoch, at, type: event.type, turn_id: turnId, item_id: itemId, data };
}

type Position = Pick<PassedFence, "id" | "epoch" | "at">;

/**
 * Appends events of a client, which does not own the session: `command.accepted`, `inbox.answered`. The row lock puts them in
 * order with those of the owner.
 */
export async function appendAsClient(
  store: Store<DaemonTables>,
  trx: DaemonTransaction,
  sessionId: string,
  events: readonly EncodedEvent[],
  columns: Partial<Pick<SessionTable, "ready_at" | "phase">> = {},
): Promise<readonly SessionEvent[]> {
  const row = await trx
    .updateTable("session")
    .set({ last_seq: sql<number>`last_seq + ${events.length}`, ...columns })
    .where("id", "=", sessionId)
    .returning(["id", "last_seq", "epoch", store.now.as("at")])
    .executeTakeFirstOrThrow();
  const before = row.last_seq - events.length;
  const numbered = events.map((encoded, index) => ({ encoded, seq: before + index + 1 }));
  await insertEvents(
    trx,
    store.kind,
    numbered.map(({ encoded, seq }) => toRow(encoded, seq, row)),
  );
  return numbered.map(({ encoded, seq }) => toEvent(encoded, seq, row));
}
