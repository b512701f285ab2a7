import type { Kysely, RawBuilder } from "kysely";
import type { Migration } from "kysely/migration";
import type { StoreLimits } from "./limits.ts";
import type { Notifier } from "./notifier/notifier.ts";

/** An open store: SQLite for one process, Postgres for any number. */
export interface Store<Tables> extends AsyncDisposable {
  readonly kind: StoreKind;
  readonly db: Kysely<Tables>;
  readonly notifier: Notifier;
  /** SQL expression for the store's clock, in milliseconds since the epoch. */
  readonly now: RawBuilder<number>;
  /** Resolves if the store answers within its timeouts. Rejects with a `StoreError` otherwise. */
  check(): Promise<void>;
  /**
   * Acquires a lock that excludes all other processes using the store. It is released when this process or
   * the store ends. Resolves to undefined if another process holds it. A SQLite folder is open in one process
   * only, which gets every lock.
   */
  lock(name: string): Promise<AsyncDisposable | undefined>;
  /**
   * Returns a separate connection for queries that must not wait behind others, such as lease renewals. A
   * SQLite folder has only one connection, which answers immediately.
   */
  dedicated(options: DedicatedOptions): DedicatedConnection<Tables>;
  /** Closes all connections. Pending queries fail. */
  close(): Promise<void>;
}

export interface DedicatedOptions {
  /** Timeout of each `run`, from the call to the result. */
  readonly timeoutMs: number;
}

/** Connects on the first `run`. Closed together with its store. */
export interface DedicatedConnection<Tables> extends AsyncDisposable {
  /**
   * Runs queries, one call at a time. Rejects with `store_unavailable` when the timeout expires, regardless
   * of the state of the network and the server. The queries may have been executed nevertheless. The
   * connection is then closed, and the next call opens a new one.
   */
  run<Result>(work: (db: Kysely<Tables>) => Promise<Result>): Promise<Result>;
}

export type StoreKind = "sqlite" | "postgres";

/** Migrations by name, or a function of the kind of store if the schemas differ. */
export type Migrations =
  | Readonly<Record<string, StoreMigration>>
  | ((kind: StoreKind) => Readonly<Record<string, StoreMigration>>);

export interface StoreMigration extends Migration {
  /**
   * Whether versions without this migration can keep using the store, because it only adds tables, indexes, and
   * columns that are nullable or have a default. Stored with the migration. Default: false, so that those
   * versions reject the store.
   */
  readonly isAdditive?: boolean;
}

export interface OpenStoreOptions {
  /** A folder for SQLite, or a `postgres://` URL. */
  readonly location: string;
  /** Migrations run in alphabetical order of their names. */
  readonly migrations: Migrations;
  /** Name of the SQLite file and of the Postgres notification channel. Default: `store`. */
  readonly name?: string;
  readonly limits?: Partial<StoreLimits>;
  /** SQLite only. `full` keeps every committed transaction after a power failure. Default: `full`. */
  readonly synchronous?: "full" | "normal";
  /** Receives failures that no caller is waiting for, such as a lost idle connection. */
  readonly onWarning?: (error: Error) => void;
}
