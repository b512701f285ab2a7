import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DisposableStack } from "@codexkit/rpc/async";
import { Kysely, sql, SqliteAdapter, SqliteDialect } from "kysely";
import { StoreError } from "../errors.ts";
import type { StoreLimits } from "../limits.ts";
import { LocalNotifier } from "../notifier/local-notifier.ts";
import type { OpenStoreOptions, Store } from "../store.ts";
import { lockFolder } from "./folder-lock.ts";
import { CachedDatabase, mapErrors, openDatabase } from "./sqlite-database.ts";

export function openSqlite<Tables>(
  { location, name = "store", synchronous = "full", onWarning = () => {} }: OpenStoreOptions,
  limits: StoreLimits,
): Store<Tables> {
  makeFolder(location);
  using stack = new DisposableStack();
  stack.use(lockFolder(join(location, `${name}.lock`)));
  const file = join(location, `${name}.sqlite`);
  const database = openDatabase(file, limits.lockMs);
  stack.defer(() => database.isOpen && database.close());
  mapErrors(() =>
    database.exec(
      `pragma journal_mode = wal; pragma synchronous = ${synchronous}; pragma foreign_keys = on; pragma temp_store = memory; pragma cache_size = -65536`,
    ),
  );
  const db = new Kysely<Tables>({
    dialect: new TransactionalDialect({ database: new CachedDatabase(database) }),
  });
  const opened = stack.move();
  const close = async (): Promise<void> => {
    await db.destroy();
    opened.dispose();
  };
  return {
    kind: "sqlite",
    db,
    notifier: new LocalNotifier(onWarning),
    now: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`,
    check: async () => {
      await sql`select 1`.execute(db);
    },
    dedicated: () => ({ run: (work) => work(db), [Symbol.asyncDispose]: () => Promise.resolve() }),
    lock: () => Promise.resolve({ [Symbol.asyncDispose]: () => Promise.resolve() }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Kysely does not run SQLite migrations in a transaction by default, although SQLite supports it. */
class TransactionalDialect extends SqliteDialect {
  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter();
  }
}

class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

function makeFolder(location: string): void {
  try {
    // The journal contains what users and agents wrote, and tokens of environments.
    mkdirSync(location, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StoreError("bad_location", `The folder ${location} can't be used for the store.`, {
      cause: error,
    });
  }
}
