import { DatabaseError } from "pg";
import { StoreError } from "../errors.ts";

const DISK_FULL = "53100";
/** SQLSTATE codes and classes that mean the server can't handle requests now. */
const UNAVAILABLE = [
  "08", // connection exceptions
  "53", // insufficient resources, except a full disk
  "57", // shutdown, crash, start-up, cancelled by a timeout
  "55P03", // lock not available in time
  "58", // I/O errors
  "25P03", // idle in transaction for too long
  "XX000", // reported by a failing server
];
/** Wrong password, unknown role, unknown database. */
const BAD_LOCATION = ["28", "3D000"];

/**
 * Converts a failure of the connection or the server to a `StoreError`. Returns errors of the statement
 * itself unchanged.
 */
export function toStoreError(error: unknown): unknown {
  if (!(error instanceof Error) || StoreError.is(error)) return error;
  const isOf = (codes: readonly string[], code: string): boolean =>
    codes.some((prefix) => code.startsWith(prefix));
  if (error instanceof DatabaseError) {
    const code = error.code ?? "";
    if (code === DISK_FULL) {
      return new StoreError("store_full", "The disk of Postgres is full. Free some space and try again.", {
        cause: error,
      });
    }
    if (isOf(BAD_LOCATION, code)) {
      return new StoreError("bad_location", `Postgres refused the connection: ${error.message}.`, {
        cause: error,
      });
    }
    return isOf(UNAVAILABLE, code) ? unavailable(error) : error;
  }
  // The driver throws these for invalid parameters; all its other errors are connection errors.
  if (error instanceof TypeError || error instanceof RangeError) return error;
  return unavailable(error);
}

function unavailable(error: Error): StoreError {
  return new StoreError("store_unavailable", `Postgres is not available: ${error.message || error.name}.`, {
    cause: error,
  });
}
