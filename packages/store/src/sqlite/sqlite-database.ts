import { closeSync, openSync } from "node:fs";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { BoundedMap } from "@codexkit/rpc/async";
import type { SqliteDatabase, SqliteStatement } from "kysely";
import { StoreError } from "../errors.ts";
import { isDiskFull } from "./is-disk-full.ts";

/** Maximum number of cached statements. Preparing a statement costs more than running most queries. */
const MAX_STATEMENTS = 256;

const SQLITE_BUSY = 5;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_IOERR_WRITE = SQLITE_IOERR | (3 << 8);
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;

/** Adapts `node:sqlite` to Kysely's dialect, with cached statements and errors as `StoreError`. */
export class CachedDatabase implements SqliteDatabase {
  readonly #database: DatabaseSync;
  readonly #location: string | null;
  readonly #statements = new BoundedMap<string, SqliteStatement>(MAX_STATEMENTS);

  /**
   * SQLite ends the transaction itself when the disk is full. Another rollback would replace that error with
   * its own.
   */
  readonly #rollback: SqliteStatement = {
    reader: false,
    all: () => [],
    run: () => {
      if (this.#database.isTransaction) this.#map(() => this.#database.exec("rollback"));
      return { changes: 0, lastInsertRowid: 0 };
    },
    iterate: () => [].values(),
  };

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#location = database.location();
  }

  prepare(sql: string): SqliteStatement {
    if (sql === "rollback") return this.#rollback;
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#toKysely(this.#map(() => this.#database.prepare(sql)));
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #map<Result>(query: () => Result): Result {
    return mapErrors(query, this.#location);
  }

  #toKysely(statement: StatementSync): SqliteStatement {
    return {
      reader: statement.columns().length > 0,
      all: (parameters) => this.#map(() => statement.all(...(parameters as SQLInputValue[]))),
      run: (parameters) => this.#map(() => statement.run(...(parameters as SQLInputValue[]))),
      iterate: (parameters) => this.#map(() => statement.iterate(...(parameters as SQLInputValue[]))),
    };
  }
}

/** Opens a file, and creates it for its owner only: SQLite itself creates files that others can read, if the folder lets them. */
export function openDatabase(file: string, timeout: number): DatabaseSync {
  try {
    // SQLite gives the WAL the mode of its database. An existing file keeps its mode.
    closeSync(openSync(file, "a", 0o600));
  } catch {
    // SQLite reports why the file can't be opened.
  }
  return mapErrors(() => new DatabaseSync(file, { timeout }));
}

/** @param location The database file, used to find out why a write failed. */
export function mapErrors<Result>(query: () => Result, location?: string | null): Result {
  try {
    return query();
  } catch (error) {
    throw toStoreError(error, location ?? undefined);
  }
}

function toStoreError(error: unknown, location: string | undefined): unknown {
  if (!(error instanceof Error)) return error;
  const { errcode, code } = error as { errcode?: number; code?: string };
  if (code === "ERR_INVALID_STATE")
    return new StoreError("store_closed", "The store is closed.", { cause: error });
  if (errcode === undefined) return error;
  if (errcode === SQLITE_IOERR_WRITE && location !== undefined && isDiskFull(location)) return full(error);
  // The low byte is the primary code; the rest identifies the failed operation.
  switch (errcode & 0xff) {
    case SQLITE_FULL:
      return full(error);
    case SQLITE_BUSY:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
      return new StoreError("store_unavailable", `The store can't be written: ${error.message}.`, {
        cause: error,
      });
    case SQLITE_CANTOPEN:
      return new StoreError("bad_location", `The store can't be opened: ${error.message}.`, { cause: error });
    default:
      return error;
  }
}

function full(cause: Error): StoreError {
  return new StoreError("store_full", "The disk of the store is full. Free some space and try again.", {
    cause,
  });
}
