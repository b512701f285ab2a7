import { setTimeout as delay } from "node:timers/promises";
import { sql, type Kysely } from "kysely";
import { Migrator } from "kysely/migration";
import { StoreError } from "./errors.ts";
import type { StoreMigration } from "./store.ts";

const TABLE = "kysely_migration";
/** A column of the table: 1 for migrations that versions without them can ignore. */
const ADDITIVE = "additive";
const RETRY_MS = 100;
/** SQLSTATE codes for a lock timeout and a deadlock. The transaction was rolled back and can be retried. */
const CONFLICTS = new Set(["55P03", "40P01"]);

export interface MigrateOptions {
  readonly migrations: Readonly<Record<string, StoreMigration>>;
  /** Excludes other processes until the transaction ends. */
  readonly lock: (trx: Kysely<unknown>) => Promise<void>;
  /** How long to wait for other processes. */
  readonly timeoutMs: number;
}

/**
 * Brings the schema up to date in one transaction. Rejects if the store has migrations that this version
 * doesn't know. Processes that are using the store are not blocked for long: a migration that needs one of
 * their locks gives up quickly and retries.
 */
export async function migrate(db: Kysely<unknown>, options: MigrateOptions): Promise<void> {
  const until = performance.now() + options.timeoutMs;
  // Without a lock, so that a process can start while another one runs migrations that it does not need.
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
  await markAdditive(trx, migrations);
}

async function markAdditive(
  trx: Kysely<unknown>,
  migrations: Readonly<Record<string, StoreMigration>>,
): Promise<void> {
  const names = Object.keys(migrations).filter((name) => migrations[name]?.isAdditive);
  if (names.length === 0) return;
  const { hasColumn } = await findTable(trx);
  if (!hasColumn) await trx.schema.alterTable(TABLE).addColumn(ADDITIVE, "bigint").execute();
  await sql`update ${sql.table(TABLE)} set ${sql.ref(ADDITIVE)} = 1 where name in (${sql.join(names)})`.execute(
    trx,
  );
}

async function isUpToDate(
  db: Kysely<unknown>,
  migrations: Readonly<Record<string, StoreMigration>>,
): Promise<boolean> {
  const executed = await executedMigrations(db);
  const unknown = executed.filter(({ name }) => !(name in migrations));
  const breaking = unknown.filter(({ isAdditive }) => !isAdditive);
  const missing = Object.keys(migrations).filter((name) => executed.every((each) => each.name !== name));
  if (breaking.length > 0) {
    throw new StoreError(
      "store_too_new",
      `The store was written by a newer version: it has the unknown migration ${quote(breaking)}, which is not marked as additive. Install that version again, or use another store.`,
    );
  }
  if (unknown.length > 0 && missing.length > 0) {
    const lacked = missing.map((name) => ({ name }));
    throw new StoreError(
      "store_too_new",
      `The store was written by a version that is not a successor of this one: it has the unknown migration ${quote(unknown)}, but not ${quote(lacked)}. Install a version that has both, or use another store.`,
    );
  }
  return executed.length > 0 && missing.length === 0;
}

function quote(migrations: readonly { readonly name: string }[]): string {
  return migrations.map(({ name }) => JSON.stringify(name)).join(", ");
}

async function executedMigrations(
  db: Kysely<unknown>,
): Promise<readonly { readonly name: string; readonly isAdditive: boolean }[]> {
  const { exists, hasColumn } = await findTable(db);
  if (!exists) return [];
  const additive = hasColumn ? sql.ref(ADDITIVE) : sql`null`;
  const { rows } = await sql<{ name: string; additive: number | null }>`
    select name, ${additive} as additive from ${sql.table(TABLE)}`.execute(db);
  return rows.map((row) => ({ name: row.name, isAdditive: Number(row.additive) === 1 }));
}

/** Looks for the table of migrations. Stores of early versions have it without the column. */
async function findTable(
  db: Kysely<unknown>,
): Promise<{ readonly exists: boolean; readonly hasColumn: boolean }> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  const table = tables.find(({ name }) => name === TABLE);
  return {
    exists: table !== undefined,
    hasColumn: table?.columns.some(({ name }) => name === ADDITIVE) ?? false,
  };
}

function isConflict(error: unknown): boolean {
  const cause = StoreError.is(error) ? error.cause : error;
  return cause instanceof Error && CONFLICTS.has((cause as { code?: string }).code ?? "");
}
