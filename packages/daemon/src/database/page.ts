import { type SelectQueryBuilder, sql } from "kysely";
import { DaemonError } from "../errors.ts";
import type { DaemonTables } from "./tables.ts";

/** Number of rows of a page whose query has no limit. */
export const DEFAULT_PAGE = 50;

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Cursor of the next page. Undefined on the last page. */
  readonly nextCursor?: string;
}

export interface PageQuery {
  /** Cursor of the previous page. */
  readonly cursor?: string;
  /** Default: 50. */
  readonly limit?: number;
}

export interface ChangesQuery {
  /** Leaves out rows that changed exactly at the given time and whose ID is not greater. */
  readonly afterId?: string;
  /** Default: 50. */
  readonly limit?: number;
}

/** Reads one page of rows whose IDs ascend with time, newest first. */
export async function readNewest<Table extends keyof DaemonTables, Row extends { readonly id: string }>(
  query: SelectQueryBuilder<DaemonTables, Table, Row>,
  { cursor, limit = DEFAULT_PAGE }: PageQuery,
): Promise<Page<Row>> {
  let select = query.orderBy(sql`id`, "desc").limit(limit + 1);
  if (cursor !== undefined) select = select.where(sql<boolean>`id < ${readCursor(cursor, "string")[0]}`);
  return toPage(await select.execute(), limit, ({ id }) => [id]);
}

/** Reads rows that changed at or after a time of the store's clock, oldest change first. */
export async function readChanges<Table extends keyof DaemonTables, Row>(
  query: SelectQueryBuilder<DaemonTables, Table, Row>,
  updatedAt: number,
  { afterId = "", limit = DEFAULT_PAGE }: ChangesQuery,
): Promise<readonly Row[]> {
  return query
    .where(sql<boolean>`(updated_at, id) > (${updatedAt}, ${afterId})`)
    .orderBy(sql`updated_at`)
    .orderBy(sql`id`)
    .limit(limit)
    .execute();
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
