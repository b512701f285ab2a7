import { CompiledQuery, sql } from "kysely";
import type { DaemonTransaction } from "../database/ownership.ts";
import type { EventRow } from "../database/tables.ts";

const COLUMNS = ["session_id", "seq", "epoch", "at", "type", "turn_id", "item_id", "data"] as const;

/** Few sizes of the statement, so that each is prepared once. SQLite allows 32,766 parameters. */
const CHUNK_SIZES = [256, 32, 4, 1] as const;
const statements = new Map<number, string>();

/** Inserts many events quickly: Kysely's builder takes longer to compile such a statement than the store to run it. */
export async function insertEvents(
  trx: DaemonTransaction,
  kind: "sqlite" | "postgres",
  rows: readonly EventRow[],
): Promise<void> {
  if (rows.length === 0) return;
  if (kind === "postgres") await insertIntoPostgres(trx, rows);
  else await insertIntoSqlite(trx, rows);
}

/** One parameter per column: Postgres reads a few arrays three times faster than thousands of parameters. */
async function insertIntoPostgres(trx: DaemonTransaction, rows: readonly EventRow[]): Promise<void> {
  const column = (name: keyof EventRow): unknown[] => rows.map((row) => row[name]);
  await sql`
    insert into event (session_id, seq, epoch, at, type, turn_id, item_id, data)
    select * from unnest(
      ${column("session_id")}::text[], ${column("seq")}::bigint[], ${column("epoch")}::bigint[],
      ${column("at")}::bigint[], ${column("type")}::text[], ${column("turn_id")}::text[],
      ${column("item_id")}::text[], ${column("data")}::text[]
    )`.execute(trx);
}

async function insertIntoSqlite(trx: DaemonTransaction, rows: readonly EventRow[]): Promise<void> {
  let next = 0;
  for (const size of CHUNK_SIZES) {
    for (; rows.length - next >= size; next += size) {
      const parameters: unknown[] = [];
      for (let index = next; index < next + size; index += 1) {
        const row = rows[index] as EventRow;
        for (const column of COLUMNS) parameters.push(row[column]);
      }
      await trx.executeQuery(CompiledQuery.raw(sqliteStatement(size), parameters));
    }
  }
}

function sqliteStatement(size: number): string {
  let statement = statements.get(size);
  if (statement === undefined) {
    const row = `(${COLUMNS.map(() => "?").join(", ")})`;
    statement = `insert into event (${COLUMNS.join(", ")}) values ${Array.from({ length: size }, () => row).join(", ")}`;
    statements.set(size, statement);
  }
  return statement;
}
