import { sql, type Kysely } from "kysely";
import { Migrator, type Migration } from "kysely/migration";
import { StoreError } from "./errors.ts";

const TABLE = "kysely_migration";

/** Brings the schema up to date. Refuses a store with migrations that this version doesn't know. */
export async function migrate(
  db: Kysely<unknown>,
  migrations: Readonly<Record<string, Migration>>,
): Promise<void> {
  const unknown = (await executedMigrations(db)).filter((name) => !(name in migrations));
  if (unknown.length > 0) {
    throw new StoreError(
      "store_too_new",
      `The store was written by a newer version: it has the unknown migration ${unknown.map((name) => JSON.stringify(name)).join(", ")}. Install that version again, or use another store.`,
    );
  }
  const migrator = new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve({ ...migrations }) },
    migrationTableName: TABLE,
    migrationLockTableName: `${TABLE}_lock`,
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined)
    throw error instanceof Error ? error : new Error("A migration failed.", { cause: error });
}

async function executedMigrations(db: Kysely<unknown>): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === TABLE)) return [];
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(TABLE)}`.execute(db);
  return rows.map(({ name }) => name);
}
