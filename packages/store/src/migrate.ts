import { setTimeout as delay } from "node:timers/promises";
import { sql, type Kysely } from "kysely";
import { Migrator, type Migration } from "kysely/migration";
import { StoreError } from "./errors.ts";

const TABLE = "kysely_migration";
const RETRY_MS = 100;
/** SQLSTATE codes: a lock was not free in time, and a deadlock. The transaction was rolled back and may simply run again. */
const CONFLICTS = new Set(["55P03", "40P01"]);

export interface MigrateOptions {
  readonly migrations: Readonly<Record<string, Migration>>;
  /** Excludes other processes until the end of the transaction. */
  readonly lock: (trx: Kysely<unknown>) => Promise<void>;
  /** How long to wait for other processes. */
  readonly timeoutMs: number;
}

/**
 * Brings the schema up to date, in one transaction. Refuses a store with migrations that this version doesn't know. Processes that
 * use the store meanwhile are not held up for long: a migration that needs a lock of theirs gives up soon and tries again.
 */
export async function migrate(db: Kysely<unknown>, options: MigrateOptions): Promise<void> {
  const until = performance.now() + options.timeoutMs;
  // Without a lock, so that a process starts while another one migrates what it does not need.
  if (await isUpToDate(db, options.migrations)) return;
  for (;;) {
    try {
      await db.transaction().execute((trx) => migrateIn(trx, options));
      return;
    } catch (error) {
      if (!isConflict(error) || performance.now() > until) throw error;
      await delay(RETRY_MS);
    }
  }
}

async function migrateIn(trx: Kysely<unknown>, { migrations, lock }: MigrateOptions): Promise<void> {
  await lock(trx);
  if (await isUpToDate(trx, migrations)) return;
  const migrator = new Migrator({
    db: trx,
    provider: { getMigrations: () => Promise.resolve({ ...migrations }) },
    migrationTableName: TABLE,
    migrationLockTableName: `${TABLE}_lock`,
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined)
    throw error instanceof Error ? error : new Error("A migration failed.", { cause: error });
}

async function isUpToDate(
  db: Kysely<unknown>,
  migrations: Readonly<Record<string, Migration>>,
): Promise<boolean> {
  const executed = await executedMigrations(db);
  const unknown = executed.filter((name) => !(name in migrations));
  if (unknown.length > 0) {
    throw new StoreError(
      "store_too_new",
      `The store was written by a newer version: it has the unknown migration ${unknown.map((name) => JSON.stringify(name)).join(", ")}. Install that version again, or use another store.`,
    );
  }
  return executed.length > 0 && executed.length === Object.keys(migrations).length;
}

async function executedMigrations(db: Kysely<unknown>): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === TABLE)) return [];
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(TABLE)}`.execute(db);
  return rows.map(({ name }) => name);
}

function isConflict(error: unknown): boolean {
  const cause = StoreError.is(error) ? error.cause : error;
  return cause instanceof Error && CONFLICTS.has((cause as { code?: string }).code ?? "");
}
