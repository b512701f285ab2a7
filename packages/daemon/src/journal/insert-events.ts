import { CompiledQuery, sql } from "kysely";
import type { DaemonTransaction } from "../database/ownership.ts";
import type { EventRow } from "../database/tables.ts";
import { hasSameColumns } from "./event-row.ts";

const COLUMNS = "session_id, seq, epoch, at, type, turn_id, item_id, data";
const INSERT_ROW = `insert into event (${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?)`;
/** The same statement for any number of rows, so that it is prepared once. Binding one array is faster than one parameter per row. */
const INSERT_RUN = `insert into event (${COLUMNS}) select ?, ? + key, ?, ?, ?, ?, ?, value from json_each(?)`;

/** Inserts many events quickly. Kysely's builder would take longer to compile such a statement than the store takes to run it. */
export async function insertEvents(
  trx: DaemonTransaction,
  kind: "sqlite" | "postgres",
  rows: readonly EventRow[],
): Promise<void> {
  if (rows.length === 0) return;
  if (kind === "postgres") await insertIntoPostgres(trx, rows);
  else await insertIntoSqlite(trx, rows);
}

/** Uses one parameter per column, because Postgres reads a few arrays three times faster than thousands of parameters. */
async function insertIntoPostgres(trx: DaemonTransaction, rows: readonly EventRow[]): Promise<void> {
  const column = (name: keyof EventRow): unknown[] => rows.map((row) => row[name]);
  await sql`
    insert into event (${sql.raw(COLUMNS)})
    select ${sql.raw(COLUMNS)} from unnest(
      ${column("session_id")}::text[], ${column("seq")}::bigint[], ${column("epoch")}::bigint[],
      ${column("at")}::bigint[], ${column("type")}::text[], ${column("turn_id")}::text[],
      ${column("item_id")}::text[], ${column("data")}::text[]
    ) as added (${sql.raw(COLUMNS)})`.execute(trx);
}

/** Inserts consecutive deltas of one item, which differ only in their data, with one statement and few parameters. */
async function insertIntoSqlite(trx: DaemonTransaction, rows: readonly EventRow[]): Promise<void> {
  let begin = 0;
  for (let end = 1; end <= rows.length; end += 1) {
    const first = rows[begin] as EventRow;
    const next = rows[end];
    if (next && next.session_id === first.session_id && hasSameColumns(first, next)) continue;
    const { session_id: sessionId, seq, epoch, at, type, turn_id: turnId, item_id: itemId } = first;
    const isRow = end - begin === 1;
    const data = isRow ? first.data : JSON.stringify(rows.slice(begin, end).map((row) => row.data));
    const parameters = [sessionId, seq, epoch, at, type, turnId, itemId, data];
    await trx.executeQuery(CompiledQuery.raw(isRow ? INSERT_ROW : INSERT_RUN, parameters));
    begin = end;
  }
}
