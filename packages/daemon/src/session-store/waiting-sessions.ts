import type { Store } from "@codexkit/store";
import type { ExpressionBuilder, SqlBool, Expression } from "kysely";
import type { DaemonTransaction } from "../database/ownership.ts";
import type { DaemonTables } from "../database/tables.ts";
import { DaemonError } from "../errors.ts";

/** Seconds after which a client retries. */
const RETRY_SECONDS = 5;

/**
 * Condition for sessions with work that is due and without a node. Stranded sessions are excluded: they wait for a particular node,
 * not for capacity.
 */
export function isWaiting(
  where: ExpressionBuilder<DaemonTables, "session">,
  { now }: Pick<Store<DaemonTables>, "now">,
): Expression<SqlBool> {
  return where.and([
    where("session.node_id", "is", null),
    where("session.ready_at", "<=", now),
    where("session.phase", "not in", ["deleted", "stranded"]),
  ]);
}

/**
 * Rejects with `too_many_waiting` if the tenant, or all tenants together, have reached their limit of waiting sessions. The
 * tenant's limit is strict. The limit of the fleet is strict for new sessions, which are counted one after the other; messages that
 * are sent at the same time may exceed it.
 */
export async function requireFewerWaiting(
  store: Store<DaemonTables>,
  trx: DaemonTransaction,
  { tenantId, maxWaiting }: { readonly tenantId: string; readonly maxWaiting: number },
): Promise<void> {
  const select = trx.selectFrom("tenant").select("max_waiting").where("id", "=", tenantId);
  // Postgres would let concurrent transactions count the same sessions. SQLite runs one after the other.
  const tenant = await (store.kind === "postgres" ? select.forUpdate() : select).executeTakeFirst();
  const limit = tenant?.max_waiting ?? null;
  const count = async (ofTenant: boolean): Promise<number> => {
    const { waiting } = await trx
      .selectFrom("session")
      .select(({ fn }) => fn.countAll<number>().as("waiting"))
      .where((where) => isWaiting(where, store))
      .$if(ofTenant, (all) => all.where("tenant_id", "=", tenantId))
      .executeTakeFirstOrThrow();
    return waiting;
  };
  if (limit !== null && (await count(true)) >= limit) {
    throw tooMany(`${limit} sessions of the tenant "${tenantId}" are already waiting for a node.`);
  }
  if (maxWaiting < Infinity && (await count(false)) >= maxWaiting) {
    throw tooMany(`${maxWaiting} sessions are already waiting for a node.`);
  }
}

function tooMany(message: string): DaemonError {
  return new DaemonError("too_many_waiting", `${message} Try again later.`, {
    details: { retryAfter: RETRY_SECONDS },
  });
}
