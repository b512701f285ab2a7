import type { Kysely, RawBuilder } from "kysely";
import type { Migration } from "kysely/migration";
import type { StoreLimits } from "./limits.ts";
import type { Notifier } from "./notifier/notifier.ts";

/** An open store: SQLite for one process, Postgres for any number. */
export interface Store<Tables> extends AsyncDisposable {
  readonly kind: StoreKind;
  readonly db: Kysely<Tables>;
  readonly notifier: Notifier;
  /** The clock of the store in milliseconds since the epoch, as an SQL expression. */
  readonly now: RawBuilder<number>;
  /** Resolves if the store answers, within its time limits. Rejects with a `StoreError` otherwise. */
  check(): Promise<void>;
  /**
   * Takes a lock among all processes that use the store, which ends with this process or with the store. Resolves to undefined if
   * another process has it. A SQLite folder has one process only, which gets every lock.
   */
  lock(name: string): Promise<AsyncDisposable | undefined>;
  /**
   * A connection of its own for queries that must not wait behind others, such as the renewal of a lease. A SQLite folder has one
   * connection, which answers at once.
   */
  dedicated(options: DedicatedOptions): DedicatedConnection<Tables>;
  /** Closes all connections. Pending queries fail. */
  close(): Promise<void>;
}

export interface DedicatedOptions {
  /** Limit of each `run`, from the call to the result. */
  readonly timeoutMs: number;
}

/** Connects with the first `run`. Closed with its store. */
export interface DedicatedConnection<Tables> extends AsyncDisposable {
  /**
   * Runs queries, one call at a time. Rejects with `store_unavailable` at the limit, in whatever state network and server are; the
   * queries may have been carried out nevertheless. The connection is closed then, and the next call makes a new one.
   */
  run<Result>(work: (db: Kysely<Tables>) => Promise<Result>): Promise<Result>;
}

export type StoreKind = "sqlite" | "postgres";

/** By name, or a function of the kind of store where the schemas differ. */
export type Migrations =
  | Readonly<Record<string, Migration>>
  | ((kind: StoreKind) => Readonly<Record<string, Migration>>);

export interface OpenStoreOptions {
  /** A folder for SQLite, or a `postgres://` URL. */
  readonly location: string;
  /** They run in the alphabetical order of their names. */
  readonly migrations: Migrations;
  /** Name of the SQLite file and of the Postgres notification channel. Default: `store`. */
  readonly name?: string;
  readonly limits?: Partial<StoreLimits>;
  /** SQLite only. `full` keeps every committed transaction after a power failure. Default: `full`. */
  readonly synchronous?: "full" | "normal";
  /** Receives failures that no caller waits for, such as a lost idle connection. */
  readonly onWarning?: (error: Error) => void;
}
