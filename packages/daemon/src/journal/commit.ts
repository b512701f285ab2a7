import type { Store } from "@codexkit/store";
import { sql } from "kysely";
import type { SessionEvent } from "../api/event.ts";
import type { DaemonTransaction } from "../database/ownership.ts";
import { toColumns } from "../database/session-columns.ts";
import type { DaemonTables, EventRow, SessionTable } from "../database/tables.ts";
import { storeNotices } from "./notices.ts";
import { EventBatch } from "./event-batch.ts";
import { type EncodedEvent, toEvent } from "./event-row.ts";
import { passFences, type PassedFence } from "./fence.ts";
import { insertEvents } from "./insert-events.ts";
import { project } from "./projection.ts";
import type { RecentWrites } from "./recent-writes.ts";
import { restoreLost } from "./restore-lost.ts";
import { storeProjection } from "./store-projection.ts";
import type { WriteGroup } from "./write.ts";

/** Kind of the inbox entry that asks whether to continue a turn that was cut off. */
export const INTERRUPTED_TURN = "interruptedTurn";

/** The outcome of a transaction. */
export interface CommitOutcome {
  readonly groups: readonly StoredGroup[];
  /** Whether a column was changed that session lists show. */
  readonly hasSessionChanges: boolean;
  /** Whether messages for webhooks were stored. */
  readonly hasNotices: boolean;
  /** Sessions whose lost events were stored again. */
  readonly restored: readonly string[];
}

export interface StoredGroup extends WriteGroup {
  /** The stored events of all writes, in order. Undefined if the owner was fenced. */
  readonly rows: readonly EventRow[] | undefined;
}

/** Stores the writes of several owners. Writes of a fenced owner are skipped, without affecting the others. */
export async function commitGroups(
  store: Store<DaemonTables>,
  trx: DaemonTransaction,
  groups: readonly WriteGroup[],
  appendId: string,
  recent: RecentWrites | undefined,
): Promise<CommitOutcome> {
  const requests = groups.map(({ owner, writes }) => ({
    owner,
    count: writes.reduce((sum, { events }) => sum + events.length, 0),
  }));
  const fences = await passFences(store, trx, requests, appendId);
  const stored: StoredGroup[] = [];
  const rows: EventRow[] = [];
  const passed: { group: WriteGroup; fence: PassedFence; events: SessionEvent[] }[] = [];
  const restored: string[] = [];
  for (const [index, group] of groups.entries()) {
    let fence = fences.get(group.owner);
    if (!fence) {
      stored.push({ ...group, rows: undefined });
      continue;
    }
    const begin = rows.length;
    let seq = fence.lastSeq - (requests[index]?.count ?? 0);
    const lost = recent?.lostAfter(seq, group.owner);
    if (lost) {
      fence = await restoreLost(store, trx, { fence, before: seq, lost }, (...lostGroup) =>
        applyEffects(trx, ...lostGroup),
      );
      seq = lost.lastSeq;
      restored.push(group.owner.sessionId);
    }
    const events: SessionEvent[] = [];
    for (const write of group.writes) {
      for (const encoded of write.events) {
        seq += 1;
        rows.push(toRow(encoded, seq, fence));
        // Most events are deltas, which change no other table.
        if (encoded.event.type !== "item.delta")
          events.push(toEvent(encoded, { seq, epoch: fence.epoch, at: fence.at }));
      }
    }
    stored.push({ ...group, rows: rows.slice(begin) });
    passed.push({ group, fence, events });
  }
  await insertEvents(trx, store.kind, rows);
  const outcome = { groups: stored, hasSessionChanges: false, hasNotices: false, restored };
  for (const { group, fence, events } of passed) {
    const effects = await applyEffects(trx, group, fence, events);
    outcome.hasSessionChanges ||= effects.hasSessionChanges;
    outcome.hasNotices ||= effects.hasNotices;
  }
  return outcome;
}

/** Updates items, turns and the session, stores messages for webhooks, and runs the `also` functions of the writes. */
async function applyEffects(
  trx: DaemonTransaction,
  { owner: { sessionId, mask }, writes }: WriteGroup,
  fence: PassedFence,
  events: readonly SessionEvent[],
): Promise<Pick<CommitOutcome, "hasSessionChanges" | "hasNotices">> {
  const changes = writes.map(({ request }) => request.changes ?? {});
  const threadId = changes.findLast((change) => change.threadId !== undefined)?.threadId ?? fence.threadId;
  const projection = project(events, threadId);
  await storeProjection(trx, sessionId, projection);
  // Explicit changes take precedence over changes derived from events.
  const columns: Partial<SessionTable> = Object.assign(
    { ...projection.session },
    ...changes.map((change) => toColumns(change, fence.at)),
  );
  if (mask && typeof columns.problem === "string") columns.problem = mask.json(columns.problem);
  const { lastSeq, at } = fence;
  const former = formerTurns(writes);
  const hasNotices = await storeNotices(trx, {
    sessionId,
    threadId,
    events: events.filter((event) => !("turnId" in event && former.has(event.turnId ?? ""))),
    columns,
    lastSeq,
    at,
  });
  const hasSessionChanges = Object.keys(columns).length > 0;
  if (hasSessionChanges) {
    await trx
      .updateTable("session")
      .set((eb) => ({
        ...columns,
        updated_at: fence.at,
        // If the owner is lost during the turn, the next owner must find out what became of it.
        ...(typeof columns.active_turn_id === "string" && {
          ready_at: eb.fn.coalesce(eb.ref("ready_at"), eb.val(fence.at)),
        }),
      }))
      .where("id", "=", sessionId)
      .execute();
  }
  for (const { request } of writes) await request.also?.(trx);
  if (projection.hasTurnEnded || writes.some(({ request }) => request.mayBecomeIdle)) {
    await updateReady(trx, sessionId, fence.at);
  }
  return { hasSessionChanges, hasNotices };
}

/** Turns that are older than the session. */
function formerTurns(writes: WriteGroup["writes"]): ReadonlySet<string> {
  const histories = writes.filter(({ request }) => request.isHistory);
  return new Set(histories.flatMap(({ events }) => events.flatMap(({ turnId }) => turnId ?? [])));
}

/**
 * Updates when the session needs an owner. A session without commands, a turn and open requests needs none. If it waits for parked
 * approvals, it needs one when the first of them expires or when all are answered. An approval may have been answered before it was
 * parked.
 */
async function updateReady(trx: DaemonTransaction, sessionId: string, now: number): Promise<void> {
  const parked = trx
    .selectFrom("approval")
    .select("id")
    .where("session_id", "=", sessionId)
    .where("parked_at", "is not", null)
    .where("submitted_at", "is", null);
  const unanswered = parked.where("state", "=", "parked");
  const answered = parked.where("state", "in", ["answered", "expired"]);
  // The process that sent these requests has ended with its turn, and the next owner must park them.
  const lost = trx
    .selectFrom("approval")
    .select("id")
    .where("session_id", "=", sessionId)
    .where("parked_at", "is", null)
    .where("state", "in", ["open", "answered"]);
  // The owner must react to a turn that was cut off. No owner is needed while a person is being asked.
  const asked = trx
    .selectFrom("approval")
    .select("id")
    .where("session_id", "=", sessionId)
    .where("kind", "=", INTERRUPTED_TURN)
    .where("state", "=", "parked");
  const firstExpiry = trx
    .selectFrom("approval")
    .select(({ fn }) => fn.min<number | null>("expires_at").as("at"))
    .where("session_id", "=", sessionId)
    .where("parked_at", "is not", null)
    .where("submitted_at", "is", null)
    .where("state", "=", "parked");
  await trx
    .updateTable("session")
    .set((eb) => ({
      ready_at: eb
        .case()
        .when(
          eb.or([
            eb("active_turn_id", "is not", null),
            eb.and([eb("interrupted_turn_id", "is not", null), eb.not(eb.exists(asked))]),
            eb.exists(lost),
            eb.and([eb.exists(answered), eb.not(eb.exists(unanswered))]),
          ]),
        )
        .then(eb.fn.coalesce(eb.ref("ready_at"), eb.val(now)))
        .else(firstExpiry)
        .end(),
    }))
    .where("id", "=", sessionId)
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

function toRow(
  { event, turnId, itemId, data }: EncodedEvent,
  seq: number,
  { id, epoch, at }: Position,
): EventRow {
  return { session_id: id, seq, epoch, at, type: event.type, turn_id: turnId, item_id: itemId, data };
}

type Position = Pick<PassedFence, "id" | "epoch" | "at">;

/**
 * Takes a session without work from a lost node before it gets work. It waits for a node then, so that the limits of its tenant
 * apply. A renewal of the lost node comes either before or after this.
 */
async function leaveLostNode(
  store: Store<DaemonTables>,
  trx: DaemonTransaction,
  sessionId: string,
): Promise<void> {
  const node = trx
    .selectFrom("node")
    .select("node.id")
    .where("node.id", "=", (where) =>
      where.selectFrom("session").select("node_id").where("id", "=", sessionId).where("ready_at", "is", null),
    )
    .where("lease_until", "<", store.now);
  const lost = await (store.kind === "postgres" ? node.forShare().skipLocked() : node).executeTakeFirst();
  if (!lost) return;
  await trx.updateTable("session").set({ node_id: null }).where("id", "=", sessionId).execute();
}

/**
 * Appends events of a client, which does not own the session, such as `command.accepted` and `inbox.answered`. The row lock orders
 * them with the owner's events.
 */
export async function appendAsClient(
  store: Store<DaemonTables>,
  trx: DaemonTransaction,
  sessionId: string,
  events: readonly EncodedEvent[],
  columns: Partial<Pick<SessionTable, "ready_at" | "phase">> = {},
): Promise<EventBatch> {
  if (columns.ready_at !== undefined) await leaveLostNode(store, trx, sessionId);
  const row = await trx
    .updateTable("session")
    .set({ last_seq: sql<number>`last_seq + ${events.length}`, ...columns })
    .where("id", "=", sessionId)
    .returning(["id", "last_seq", "epoch", store.now.as("at")])
    .executeTakeFirstOrThrow();
  const before = row.last_seq - events.length;
  const rows = events.map((encoded, index) => toRow(encoded, before + index + 1, row));
  await insertEvents(trx, store.kind, rows);
  return new EventBatch(rows);
}
