import { Kysely, PostgresAdapter, PostgresDialect, sql } from "kysely";
import type { StoreLimits } from "../limits.ts";
import { clientConfig } from "./connection-settings.ts";
import { RetryingPool } from "./postgres-pool.ts";

/** Kysely's own lock ID, so that every other program that migrates with Kysely is excluded too. */
const LOCK_ID = 3_853_314_791_062_309_107n;
/**
 * Below Postgres's `deadlock_timeout` of 1 s, so that the migration gives up before Postgres aborts a
 * transaction of a running process. While the migration waits for a table, all other processes wait behind
 * it.
 */
const LOCK_MS = 500;

/** Opens a connection for migrations, which may run for a long time. */
export function openForMigration(location: string, limits: StoreLimits): Kysely<unknown> {
  const patient = { ...limits, connections: 1, statementMs: limits.migrateMs, lockMs: LOCK_MS };
  const pool = new RetryingPool(clientConfig(location, patient), patient, () => {});
  return new Kysely({ dialect: new UnlockedDialect({ pool }) });
}

/**
 * Acquires a transaction-level lock. Kysely's own lock belongs to the connection: behind a connection pooler
 * it would stay locked, because the pooler may run the unlock on another connection.
 */
export async function lockForMigration(trx: Kysely<unknown>): Promise<void> {
  await sql`select pg_advisory_xact_lock(${sql.lit(LOCK_ID)})`.execute(trx);
}

class UnlockedDialect extends PostgresDialect {
  override createAdapter(): PostgresAdapter {
    return new UnlockedAdapter();
  }
}

/**
 * Skips Kysely's lock. `lockForMigration` is called before Kysely creates its tables, which fails if two
 * processes do it at the same time.
 */
class UnlockedAdapter extends PostgresAdapter {
  override acquireMigrationLock(): Promise<void> {
    return Promise.resolve();
  }

  override releaseMigrationLock(): Promise<void> {
    return Promise.resolve();
  }
}
