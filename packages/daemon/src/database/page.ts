import { DaemonError } from "../errors.ts";

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Cursor of the next page. Undefined on the last page. */
  readonly nextCursor?: string;
}

/** Truncates a query's result, which has one row more than the page, and creates the cursor of its last row. */
export function toPage<Row>(
  found: readonly Row[],
  limit: number,
  position: (row: Row) => unknown,
): Page<Row> {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  if (found.length <= limit || last === undefined) return { rows };
  return { rows, nextCursor: Buffer.from(JSON.stringify(position(last))).toString("base64url") };
}

/** Parses the position in a cursor: a list of strings and numbers with the types in `shape`. */
export function readCursor<Shape extends readonly ("string" | "number")[]>(
  cursor: string,
  ...shape: Shape
): { [Index in keyof Shape]: Shape[Index] extends "string" ? string : number } {
  const invalid = new DaemonError("invalid_cursor", "The cursor was not returned by this list.");
  try {
    const values: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    if (!Array.isArray(values) || values.length !== shape.length) throw invalid;
    if (shape.some((type, index) => !isStored(values[index], type))) throw invalid;
    return values as { [Index in keyof Shape]: Shape[Index] extends "string" ? string : number };
  } catch {
    throw invalid;
  }
}

/** Whether both stores can have such a value. Postgres rejects infinite numbers and strings with a NUL character. */
function isStored(value: unknown, type: "string" | "number"): boolean {
  if (type === "number") return Number.isSafeInteger(value);
  return typeof value === "string" && !value.includes("\0");
}
