import { CompiledQuery } from "kysely";
import type { DaemonTransaction } from "./ownership.ts";
import type { DaemonTables } from "./tables.ts";

/** Few sizes of a statement, so that each is prepared once. Postgres allows 65,535 parameters, SQLite 32,766. */
const CHUNK_SIZES = [256, 32, 4, 1] as const;

const statements = new Map<string, string>();

/** Inserts many rows quickly: Kysely's builder takes longer to compile such a statement than the store to run it. */
export async function insertRows<Table extends keyof DaemonTables>(
  trx: DaemonTransaction,
  kind: "sqlite" | "postgres",
  table: Table,
  columns: readonly (keyof DaemonTables[Table] & string)[],
  rows: readonly (readonly unknown[])[],
): Promise<void> {
  let next = 0;
  for (const size of CHUNK_SIZES) {
    for (; rows.length - next >= size; next += size) {
      const parameters = rows.slice(next, next + size).flat();
      await trx.executeQuery(CompiledQuery.raw(statement(kind, table, columns, size), parameters));
    }
  }
}

function statement(kind: string, table: string, columns: readonly string[], size: number): string {
  const key = `${kind} ${table} ${size}`;
  let text = statements.get(key);
  if (text === undefined) {
    const names = columns.map((column) => `"${column}"`).join(", ");
    const placeholder = (index: number): string => (kind === "sqlite" ? "?" : `$${index + 1}`);
    const rows = Array.from(
      { length: size },
      (_, row) =>
        `(${columns.map((_name, column) => placeholder(row * columns.length + column)).join(", ")})`,
    );
    text = `insert into "${table}" (${names}) values ${rows.join(", ")}`;
    statements.set(key, text);
  }
  return text;
}
