import type { Store } from "@codexkit/store";
import type { ExpressionBuilder, SqlBool, Expression } from "kysely";
import type { DaemonTransaction } from "../database/ownership.ts";
import type { DaemonTables } from "../database/tables.ts";
import { DaemonError } from "../errors.ts";

/** Seconds after which a client tries again. */
const RETRY_SECONDS = 5;

/** Sessions that have something to do now, and no node. Those that are stranded wait for one node alone, and not for room. */
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
 * Rejects with `too_many_waiting` if the tenant, or all of them, have that many waiting sessions. The tenant's limit is strict. That
 * of the fleet is strict for new sessions, which are counted one after the other; for messages, it may be exceeded by those that
 * are sent at the same moment.
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
    throw tooMany(`${limit} sessions of the tenant "${tenantId}" wait for a node already.`);
  }
  if (maxWaiting < Infinity && (await count(false)) >= maxWaiting) {
    throw tooMany(`${maxWaiting} sessions wait for a node already.`);
  }
}

function tooMany(message: string): DaemonError {
  return new DaemonError("too_many_waiting", `${message} Try again later.`, {
    details: { retryAfter: RETRY_SECONDS },
  });
}
