import { withTimeout } from "@codexkit/rpc/async";
import { Kysely, PostgresDialect, sql } from "kysely";
import { StoreError } from "../errors.ts";
import type { StoreLimits } from "../limits.ts";
import { PostgresNotifier } from "../notifier/postgres-notifier.ts";
import type { OpenStoreOptions, Store } from "../store.ts";
import { PostgresLock } from "./postgres-lock.ts";
import { clientConfig, RetryingPool } from "./postgres-pool.ts";

/** Closing waits for running queries this long, then leaves them to the server. */
const CLOSE_MS = 5_000;

export function openPostgres<Tables>(
  { location, name = "store", onWarning = () => {} }: OpenStoreOptions,
  limits: StoreLimits,
): Store<Tables> {
  const config = clientConfig(location, limits);
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: new RetryingPool(config, limits, onWarning) }),
  });
  const notifier = new PostgresNotifier(config, `codexkit_${name}`, limits, onWarning);
  notifier.start();
  const locks = new Set<PostgresLock>();
  const close = async (): Promise<void> => {
    await notifier[Symbol.asyncDispose]();
    for (const lock of locks) await lock[Symbol.asyncDispose]();
    await withTimeout(
      db.destroy(),
      CLOSE_MS,
      () => new StoreError("store_unavailable", "Postgres did not end its connections in time."),
    ).catch(onWarning);
  };
  return {
    kind: "postgres",
    db,
    notifier,
    now: sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`,
    check: async () => {
      await sql`select 1`.execute(db);
    },
    lock: async (key) => {
      const lock = await PostgresLock.acquire(config, `codexkit_${name}:${key}`, onWarning);
      if (lock) locks.add(lock);
      return lock;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
