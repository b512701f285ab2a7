import type { DatabaseSync } from "node:sqlite";
import { StoreError } from "../errors.ts";
import { mapErrors, openDatabase } from "./sqlite-database.ts";

interface Holder {
  readonly pid: number;
  readonly since: number;
}

/**
 * Keeps other processes out of a folder. The lock is an open write transaction on a separate file. The
 * operating system releases it when the process ends, even after `kill -9`, and the committed row in the file
 * names the holder.
 */
export function lockFolder(file: string): Disposable {
  const database = openDatabase(file, 0);
  try {
    mapErrors(() => {
      // In WAL mode, the row can be read while the transaction is open.
      database.exec(
        "pragma journal_mode = wal; create table if not exists holder (pid integer, since integer)",
      );
      database.exec("begin immediate; delete from holder");
      database.prepare("insert into holder values (?, ?)").run(process.pid, Date.now());
      database.exec("commit; begin immediate");
    });
  } catch (error) {
    const holder = readHolder(database);
    database.close();
    if (!StoreError.is(error) || error.code !== "store_unavailable") throw error;
    throw new StoreError("store_locked", describeHolder(file, holder), { cause: error });
  }
  return {
    [Symbol.dispose]: () => {
      if (database.isOpen) database.close();
    },
  };
}

function readHolder(database: DatabaseSync): Holder | undefined {
  try {
    return database.prepare("select pid, since from holder").get() as Holder | undefined;
  } catch {
    return undefined;
  }
}

function describeHolder(file: string, holder: Holder | undefined): string {
  const who = holder
    ? `process ${holder.pid}, since ${new Date(holder.since).toISOString()}`
    : "another process";
  return `The store is in use by ${who} (lock file ${file}). Stop that process, or use another folder.`;
}
