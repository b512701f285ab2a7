import type { Store } from "@codexkit/store";
import { sql } from "kysely";
import type { DaemonTransaction, Ownership } from "../database/ownership.ts";
import type { DaemonTables } from "../database/tables.ts";
import { UNDELIVERED } from "./end-waiting.ts";

export interface NewApproval {
  /** Default: a new UUID. */
  readonly id?: string;
  readonly threadId: string;
  readonly turnId?: string;
  readonly itemId?: string;
  readonly callId?: string;
  readonly requestId: string | number;
  /** The kind of the request in the SDK. */
  readonly kind: string;
  /** Hash of the request, used to recognise it if Codex sends it again. */
  readonly fingerprint: string;
  readonly request: unknown;
  readonly verdict?: unknown;
  readonly offers: readonly unknown[];
  /** Duration by the store's clock. */
  readonly expiresInMs?: number;
  readonly rolloutBytes?: number;
  /** Length of the rollout file of the session's own thread, if the request is from an agent. */
  readonly rootBytes?: number;
}

export async function insertApproval(
  { now }: Store<DaemonTables>,
  trx: DaemonTransaction,
  owner: Ownership,
  id: string,
  approval: NewApproval,
): Promise<void> {
  await trx
    .insertInto("approval")
    .values({
      id,
      session_id: owner.sessionId,
      epoch: owner.epoch,
      thread_id: approval.threadId,
      ...idsOf(approval),
      kind: approval.kind,
      request: JSON.stringify(approval.request),
      verdict: approval.verdict === undefined ? null : JSON.stringify(approval.verdict),
      offers: JSON.stringify(approval.offers),
      state: "open",
      answer: null,
      answered_by: null,
      answered_by_name: null,
      answered_at: null,
      note: null,
      created_at: now,
      updated_at: now,
      expires_at:
        approval.expiresInMs === undefined
          ? null
          : sql<number>`${now} + ${sql.lit(Math.ceil(approval.expiresInMs))}`,
      rollout_bytes: approval.rolloutBytes ?? null,
      parked_at: null,
      submitted_at: null,
      progress: approval.rootBytes === undefined ? null : JSON.stringify({ rootBytes: approval.rootBytes }),
    })
    .execute();
}

/**
 * Reopens a request that Codex has sent again after a restart or to a new owner. An answer that Codex has not received
 * is kept.
 */
export async function reopenApproval(
  { now }: Store<DaemonTables>,
  trx: DaemonTransaction,
  owner: Ownership,
  id: string,
  approval: NewApproval,
): Promise<void> {
  await trx
    .updateTable("approval")
    .set(({ eb }) => ({
      epoch: owner.epoch,
      ...idsOf(approval),
      rollout_bytes: approval.rolloutBytes ?? eb.ref("rollout_bytes"),
      parked_at: null,
      submitted_at: null,
      state: eb
        .case()
        .when("state", "=", "expired")
        .then("expired" as const)
        .when("answer", "is", null)
        .then("open" as const)
        .else("answered" as const)
        .end(),
      updated_at: now,
    }))
    .where("id", "=", id)
    .where("state", "in", [...UNDELIVERED, "expired"])
    .execute();
}

/** Returns the IDs by which the request is recognised and its answer is routed. */
function idsOf({ turnId, itemId, callId, requestId, fingerprint }: NewApproval) {
  return {
    turn_id: turnId ?? null,
    item_id: itemId ?? null,
    call_id: callId ?? null,
    request_id: JSON.stringify(requestId),
    fingerprint,
  };
}
