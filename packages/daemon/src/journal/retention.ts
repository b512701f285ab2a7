import type { Store } from "@codexkit/store";
import { BoundedMap } from "@codexkit/rpc/async";
import { sql } from "kysely";
import type { DaemonTransaction } from "../database/ownership.ts";
import type { DaemonTables, EventRow } from "../database/tables.ts";

export interface Retention {
  /** Age in milliseconds after which deltas are merged. Default: never. */
  readonly mergeAfterMs?: number;
  /** Age in milliseconds after which events are removed. Default: never. */
  readonly maxAgeMs?: number;
  /** Maximum size of a session's journal. Beyond it, the oldest events are removed. Default: no limit. */
  readonly maxBytes?: number;
}

export interface RetentionResult {
  /** Number of deltas that were merged into another one. */
  readonly merged: number;
  readonly removed: number;
}

/** Maximum events per transaction, so that appends never wait long. */
const STEP = 1_000;
/** Maximum UTF-16 length of a merged delta, so that a page of them stays small. */
const MAX_DELTA = 65_536;
const MAX_MEASURED = 100_000;

/** Merges and removes old events of all sessions, one session after the other, in short transactions. */
export class Retainer {
  readonly #store: Store<DaemonTables>;
  /** By session: the newest event when its size was last measured. Measuring a session reads all of it. */
  readonly #measured = new BoundedMap<string, number>(MAX_MEASURED);

  constructor(store: Store<DaemonTables>) {
    this.#store = store;
  }

  async run(retention: Retention): Promise<RetentionResult> {
    const { rows } = await sql<{ now: number }>`select ${this.#store.now} as now`.execute(this.#store.db);
    const now = rows[0]?.now ?? 0;
    const sessions = await this.#store.db
      .selectFrom("session")
      .select(["id", "last_seq", "merged_seq"])
      .execute();
    let merged = 0;
    let removed = 0;
    for (const { id, last_seq: lastSeq, merged_seq: mergedSeq } of sessions) {
      if (retention.maxAgeMs !== undefined) {
        removed += await removeBefore(this.#store, id, now - retention.maxAgeMs);
      }
      if (retention.maxBytes !== undefined && this.#measured.get(id) !== lastSeq) {
        removed += await removeBeyond(this.#store, id, retention.maxBytes);
        this.#measured.set(id, lastSeq);
      }
      if (retention.mergeAfterMs !== undefined && mergedSeq < lastSeq) {
        merged += await mergeDeltas(this.#store, id, mergedSeq, now - retention.mergeAfterMs);
      }
    }
    return { merged, removed };
  }
}

async function removeBefore(store: Store<DaemonTables>, sessionId: string, before: number): Promise<number> {
  const kept = await store.db
    .selectFrom("event")
    .select("seq")
    .where("session_id", "=", sessionId)
    .where("at", ">=", before)
    .orderBy("seq")
    .limit(1)
    .executeTakeFirst();
  return removeThrough(store, sessionId, kept ? kept.seq - 1 : Number.MAX_SAFE_INTEGER);
}

async function removeBeyond(
  store: Store<DaemonTables>,
  sessionId: string,
  maxBytes: number,
): Promise<number> {
  const newest = await store.db
    .selectFrom((from) =>
      from
        .selectFrom("event")
        .select([
          "seq",
          sql<number>`sum(length(data)) over (order by seq desc rows unbounded preceding)`.as("bytes"),
        ])
        .where("session_id", "=", sessionId)
        .as("sized"),
    )
    .select(({ fn }) => fn.max("seq").as("seq"))
    .where("bytes", ">", maxBytes)
    .executeTakeFirst();
  return newest?.seq ? removeThrough(store, sessionId, newest.seq) : 0;
}

/** Removes the oldest events. The newest event always remains, because it may be the deletion that readers wait for. */
async function removeThrough(
  store: Store<DaemonTables>,
  sessionId: string,
  through: number,
): Promise<number> {
  let removed = 0;
  for (;;) {
    const step = await store.db.transaction().execute(async (trx) => {
      const session = await trx
        .selectFrom("session")
        .select(["first_seq", "last_seq"])
        .where("id", "=", sessionId)
        .executeTakeFirst();
      if (!session) return undefined;
      const end = Math.min(through, session.last_seq - 1, session.first_seq + STEP - 1);
      if (end < session.first_seq) return undefined;
      await trx
        .updateTable("session")
        .set({ first_seq: end + 1 })
        .where("id", "=", sessionId)
        .execute();
      const { numDeletedRows } = await trx
        .deleteFrom("event")
        .where("session_id", "=", sessionId)
        .where("seq", "<=", end)
        .executeTakeFirst();
      return Number(numDeletedRows);
    });
    if (step === undefined) return removed;
    removed += step;
  }
}

async function mergeDeltas(
  store: Store<DaemonTables>,
  sessionId: string,
  mergedSeq: number,
  before: number,
): Promise<number> {
  let merged = 0;
  let after = mergedSeq;
  for (;;) {
    const events = await store.db
      .selectFrom("event")
      .selectAll()
      .where("session_id", "=", sessionId)
      .where("seq", ">", after)
      .where("at", "<", before)
      .orderBy("seq")
      .limit(STEP)
      .execute();
    const last = events.at(-1);
    if (!last) return merged;
    const runs = findRuns(events);
    // A run at the end of the page may continue on the next one. If it is the whole page, it is merged anyway.
    const isLastPage = events.length < STEP;
    const open = isLastPage ? undefined : runs.find((run) => run.at(-1) === last && run[0] !== events[0]);
    after = open ? (open[0] as EventRow).seq - 1 : last.seq;
    const whole = runs.filter((run) => run !== open && run.length > 1);
    await store.db.transaction().execute(async (trx) => {
      for (const run of whole) merged += await mergeRun(trx, run);
      await trx.updateTable("session").set({ merged_seq: after }).where("id", "=", sessionId).execute();
    });
  }
}

interface Delta {
  readonly kind: string;
  readonly index?: number;
  readonly delta: string;
  readonly mergedFrom?: number;
  readonly recovered?: true;
}

/**
 * Finds runs of adjacent deltas that continue one text. Only these are merged, so that a merged delta represents a contiguous range
 * of sequence numbers.
 */
function findRuns(events: readonly EventRow[]): EventRow[][] {
  const runs: EventRow[][] = [];
  let length = 0;
  let previous: { row: EventRow; delta: Delta } | undefined;
  for (const row of events) {
    if (row.type !== "item.delta") {
      previous = undefined;
      continue;
    }
    const delta = JSON.parse(row.data) as Delta;
    const run = runs.at(-1);
    if (run && previous && length + delta.delta.length <= MAX_DELTA && continues(previous, { row, delta })) {
      run.push(row);
      length += delta.delta.length;
    } else {
      runs.push([row]);
      length = delta.delta.length;
    }
    previous = { row, delta };
  }
  return runs;
}

function continues(
  a: { readonly row: EventRow; readonly delta: Delta },
  b: { readonly row: EventRow; readonly delta: Delta },
): boolean {
  return (
    a.row.item_id === b.row.item_id &&
    a.row.turn_id === b.row.turn_id &&
    a.row.epoch === b.row.epoch &&
    a.delta.kind === b.delta.kind &&
    a.delta.index === b.delta.index &&
    a.delta.recovered === b.delta.recovered &&
    // Progress messages are separate texts.
    a.delta.kind !== "tool_progress" &&
    (b.delta.mergedFrom ?? b.row.seq) === a.row.seq + 1
  );
}

/** Merges a run into its last row, so that readers whose cursor is before it still get the whole text. */
async function mergeRun(trx: DaemonTransaction, run: readonly EventRow[]): Promise<number> {
  const deltas = run.map(({ data }) => JSON.parse(data) as Delta);
  const [first] = deltas as [Delta];
  const [firstRow] = run as [EventRow];
  const last = run.at(-1) as EventRow;
  const data = {
    ...first,
    delta: deltas.map(({ delta }) => delta).join(""),
    merged: true,
    mergedFrom: first.mergedFrom ?? firstRow.seq,
  };
  await trx
    .updateTable("event")
    .set({ data: JSON.stringify(data) })
    .where("session_id", "=", last.session_id)
    .where("seq", "=", last.seq)
    .execute();
  const { numDeletedRows } = await trx
    .deleteFrom("event")
    .where("session_id", "=", last.session_id)
    .where("seq", ">=", firstRow.seq)
    .where("seq", "<", last.seq)
    .executeTakeFirst();
  return Number(numDeletedRows);
}
