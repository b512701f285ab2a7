import { Kysely, PostgresAdapter, PostgresDialect, sql } from "kysely";
import type { StoreLimits } from "../limits.ts";
import { clientConfig } from "./connection-settings.ts";
import { RetryingPool } from "./postgres-pool.ts";

/** Kysely's own, so that it excludes every other program that migrates with Kysely. */
const LOCK_ID = 3_853_314_791_062_309_107n;
/**
 * Below Postgres's `deadlock_timeout` of 1 s, so that the migration gives up before a transaction of a running process is sacrificed. While
 * it waits for a table, all others wait behind it.
 */
const LOCK_MS = 500;

/** A connection for migrations, which may run for long. */
export function openForMigration(location: string, limits: StoreLimits): Kysely<unknown> {
  const patient = { ...limits, connections: 1, statementMs: limits.migrateMs, lockMs: LOCK_MS };
  const pool = new RetryingPool(clientConfig(location, patient), patient, () => {});
  return new Kysely({ dialect: new UnlockedDialect({ pool }) });
}

/**
 * A lock of the transaction. Kysely's belongs to the connection: behind a connection pooler it would stay locked, because the pooler
 * may unlock it on another connection.
 */
export async function lockForMigration(trx: Kysely<unknown>): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(LOCK_ID)})`.execute(trx);
}

class UnlockedDialect extends PostgresDialect {
  override createAdapter(): PostgresAdapter {
    return new UnlockedAdapter();
  }
}

/** The lock is taken before Kysely creates its tables, which fails when two processes do it at the same moment. */
class UnlockedAdapter extends PostgresAdapter {
  override acquireMigrationLock(): Promise<void> {
    return Promise.resolve();
  }

  override releaseMigrationLock(): Promise<void> {
    return Promise.resolve();
  }
}
