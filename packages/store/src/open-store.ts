import type { Kysely } from "kysely";
import { StoreError } from "./errors.ts";
import { DEFAULT_STORE_LIMITS } from "./limits.ts";
import { migrate } from "./migrate.ts";
import { lockForMigration, openForMigration } from "./postgres/migration-lock.ts";
import { openPostgres } from "./postgres/open-postgres.ts";
import { openSqlite } from "./sqlite/open-sqlite.ts";
import type { OpenStoreOptions, Store } from "./store.ts";

/**
 * Opens a store and brings its schema up to date.
 *
 * @example
 * await using store = await openStore<Tables>({ location: "/var/lib/app", migrations });
 * await store.db.insertInto("note").values({ id: 1, text: "hello" }).execute();
 */
export async function openStore<Tables>(options: OpenStoreOptions): Promise<Store<Tables>> {
  const limits = { ...DEFAULT_STORE_LIMITS, ...options.limits };
  const isPostgres = /^postgres(?:ql)?:\/\//.test(options.location);
  if (options.location === "" || (!isPostgres && /^[a-z][a-z0-9+.-]*:\/\//i.test(options.location))) {
    throw new StoreError(
      "bad_location",
      `Expected a folder or a postgres:// URL as the location of the store, but got ${JSON.stringify(options.location)}.`,
    );
  }
  const store = isPostgres ? openPostgres<Tables>(options, limits) : openSqlite<Tables>(options, limits);
  try {
    const { migrations: given } = options;
    const migrations = typeof given === "function" ? given(store.kind) : given;
    const timeoutMs = limits.migrateMs;
    if (isPostgres) {
      await using db = openForMigration(options.location, limits);
      await migrate(db, { migrations, timeoutMs, lock: lockForMigration });
    } else {
      // A folder has no other process.
      await migrate(store.db as Kysely<unknown>, { migrations, timeoutMs, lock: () => Promise.resolve() });
    }
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}
