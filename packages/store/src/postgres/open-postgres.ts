import { withTimeout } from "@codexkit/rpc/async";
import { Kysely, PostgresDialect, sql } from "kysely";
import { StoreError } from "../errors.ts";
import type { StoreLimits } from "../limits.ts";
import { PostgresNotifier } from "./postgres-notifier.ts";
import type { OpenStoreOptions, Store } from "../store.ts";
import { clientConfig } from "./connection-settings.ts";
import { PostgresLock } from "./postgres-lock.ts";
import { PostgresDedicated } from "./postgres-dedicated.ts";
import { RetryingPool } from "./postgres-pool.ts";

/** How long closing waits for running queries before it abandons them. */
const CLOSE_MS = 5_000;

export function openPostgres<Tables>(
  { location, name = "store", onWarning = () => {} }: OpenStoreOptions,
  limits: StoreLimits,
): Store<Tables> {
  const config = clientConfig(location, limits);
  const pool = new RetryingPool(config, limits, onWarning);
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  const notifier = new PostgresNotifier(config, `codexkit_${name}`, limits, (error) => {
    pool.suspect();
    onWarning(error);
  });
  notifier.start();
  const others = new Set<AsyncDisposable>();
  const close = async (): Promise<void> => {
    await notifier[Symbol.asyncDispose]();
    for (const other of others) await other[Symbol.asyncDispose]();
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
      const lock = await PostgresLock.acquire(config, limits, `codexkit_${name}:${key}`, onWarning);
      if (lock) others.add(lock);
      return lock;
    },
    dedicated: ({ timeoutMs }) => {
      const connection = new PostgresDedicated<Tables>(config, limits, timeoutMs, () => pool.suspect());
      others.add(connection);
      return connection;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
