import type { Store } from "@codexkit/store";
import { sql } from "kysely";
import type { DaemonTransaction, Ownership } from "../database/ownership.ts";
import type { DaemonTables } from "../database/tables.ts";

/** A session whose owner may write, with the newest of the sequence numbers that were reserved for it. */
export interface PassedFence {
  readonly id: string;
  readonly epoch: number;
  readonly lastSeq: number;
  readonly threadId: string | null;
  /** The store's time. */
  readonly at: number;
}

export interface FenceRequest {
  readonly owner: Ownership;
  /** Number of events to append. */
  readonly count: number;
}

/**
 * Reserves sequence numbers for the owners that still own their session. The rows stay locked until the end of the transaction, so
 * a takeover happens either before or after it.
 */
export async function passFences(
  store: Store<DaemonTables>,
  trx: DaemonTransaction,
  requests: readonly FenceRequest[],
  appendId: string,
): Promise<ReadonlyMap<Ownership, PassedFence>> {
  const rows =
    store.kind === "postgres"
      ? await passAllAtOnce(store, trx, requests, appendId)
      : await passOneByOne(store, trx, requests, appendId);
  const passed = new Map(rows.map((row) => [`${row.id} ${row.epoch}`, row]));
  const byOwner = new Map<Ownership, PassedFence>();
  for (const { owner } of requests) {
    const row = passed.get(`${owner.sessionId} ${owner.epoch}`);
    if (row) byOwner.set(owner, row);
  }
  return byOwner;
}

/** Needs one round trip for all sessions. */
async function passAllAtOnce(
  { now }: Store<DaemonTables>,
  trx: DaemonTransaction,
  requests: readonly FenceRequest[],
  appendId: string,
): Promise<PassedFence[]> {
  const column = <Value>(value: (request: FenceRequest) => Value): Value[] => requests.map(value);
  const { rows } = await sql<PassedFence>`
    update session set last_seq = session.last_seq + request.count, append_id = ${appendId}
    from unnest(
      ${column(({ owner }) => owner.sessionId)}::text[], ${column(({ owner }) => owner.nodeId)}::text[],
      ${column(({ owner }) => owner.epoch)}::bigint[], ${column(({ count }) => count)}::bigint[]
    ) as request (id, node_id, epoch, count)
    where session.id = request.id and session.node_id = request.node_id and session.epoch = request.epoch
    returning session.id, session.epoch, session.last_seq as "lastSeq", session.thread_id as "threadId", ${now} as at
  `.execute(trx);
  return rows;
}

async function passOneByOne(
  { now }: Store<DaemonTables>,
  trx: DaemonTransaction,
  requests: readonly FenceRequest[],
  appendId: string,
): Promise<PassedFence[]> {
  const passed: PassedFence[] = [];
  for (const { owner, count } of requests) {
    const { rows } = await sql<PassedFence>`
      update session set last_seq = last_seq + ${count}, append_id = ${appendId}
      where id = ${owner.sessionId} and node_id = ${owner.nodeId} and epoch = ${owner.epoch}
      returning id, epoch, last_seq as "lastSeq", thread_id as "threadId", ${now} as at
    `.execute(trx);
    passed.push(...rows);
  }
  return passed;
}
