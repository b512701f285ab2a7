import type { Store } from "@codexkit/store";
import { sql } from "kysely";
import type { SessionEvent } from "../api/event.ts";
import { insertRows } from "../database/insert-rows.ts";
import type { DaemonTransaction, Ownership } from "../database/ownership.ts";
import { toColumns } from "../database/session-columns.ts";
import type { DaemonTables, SessionTable } from "../database/tables.ts";
import { EVENT_COLUMNS, type EncodedEvent } from "./event-row.ts";
import { project } from "./projection.ts";
import { storeProjection } from "./store-projection.ts";
import type { PendingWrite, WriteGroup } from "./write.ts";

/** The outcome of a transaction: the events of each write, or undefined for writes whose owner was fenced. */
export interface CommitOutcome {
  readonly stored: Map<PendingWrite, readonly SessionEvent[] | undefined>;
  /** Keys of lists that have changed. */
  readonly hasSessionChanges: boolean;
}

interface Fence {
  readonly lastSeq: number;
  readonly threadId: string | null;
  readonly at: number;
}

/** Stores the writes of several owners. Writes of a fenced owner store nothing and don't disturb the others. */
export async function commitGroups(
  store: Store<DaemonTables>,
  trx: DaemonTransaction,
  groups: readonly WriteGroup[],
  appendId: string,
): Promise<CommitOutcome> {
  const stored: CommitOutcome["stored"] = new Map();
  const rows: unknown[][] = [];
  const passed: { group: WriteGroup; fence: Fence; events: SessionEvent[] }[] = [];
  // In one order in every process, so that two of them never wait for each other's rows.
  const ordered = groups.toSorted((a, b) => (a.owner.sessionId < b.owner.sessionId ? -1 : 1));
  for (const group of ordered) {
    const count = group.writes.reduce((sum, { events }) => sum + events.length, 0);
    const fence = await passFence(store, trx, group.owner, count, appendId);
    if (!fence) {
      for (const write of group.writes) stored.set(write, undefined);
      continue;
    }
    let seq = fence.lastSeq - count;
    const events: SessionEvent[] = [];
    for (const write of group.writes) {
      const own = write.events.map((encoded) => number(encoded, (seq += 1), group.owner.epoch, fence.at));
      for (const [index, event] of own.entries())
        rows.push(toRow(group.owner.sessionId, event, write.events[index] as EncodedEvent));
      stored.set(write, own);
      events.push(...own);
    }
    passed.push({ group, fence, events });
  }
  await insertRows(trx, store.kind, "event", EVENT_COLUMNS, rows);
  let hasSessionChanges = false;
  for (const { group, fence, events } of passed) {
    const columns = await applyEffects(trx, group, fence, events);
    hasSessionChanges ||= columns > 0;
  }
  return { stored, hasSessionChanges };
}

/** Takes sequence numbers, if the owner still owns the session. The row stays locked until the end of the transaction. */
async function passFence(
  store: Store<DaemonTables>,
  trx: DaemonTransaction,
  owner: Ownership,
  count: number,
  appendId: string,
): Promise<Fence | undefined> {
  const row = await trx
    .updateTable("session")
    .set({ last_seq: sql<number>`last_seq + ${count}`, append_id: appendId })
    .where("id", "=", owner.sessionId)
    .where("node_id", "=", owner.nodeId)
    .where("epoch", "=", owner.epoch)
    .returning(["last_seq", "thread_id", store.now.as("at")])
    .executeTakeFirst();
  return row && { lastSeq: row.last_seq, threadId: row.thread_id, at: row.at };
}

/** Updates items, turns and the session, and runs what the callers added. Returns the number of changed session columns. */
async function applyEffects(
  trx: DaemonTransaction,
  { owner: { sessionId }, writes }: WriteGroup,
  fence: Fence,
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

function number({ event }: EncodedEvent, seq: number, epoch: number, at: number): SessionEvent {
  return { seq, epoch, at, ...event };
}

function toRow(sessionId: string, { seq, epoch, at, type }: SessionEvent, encoded: EncodedEvent): unknown[] {
  return [sessionId, seq, epoch, at, type, encoded.turnId, encoded.itemId, encoded.data];
}

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
    .returning(["last_seq", "epoch", store.now.as("at")])
    .executeTakeFirstOrThrow();
  let seq = row.last_seq - events.length;
  const numbered = events.map((encoded) => number(encoded, (seq += 1), row.epoch, row.at));
  await insertRows(
    trx,
    store.kind,
    "event",
    EVENT_COLUMNS,
    numbered.map((event, index) => toRow(sessionId, event, events[index] as EncodedEvent)),
  );
  return numbered;
}
