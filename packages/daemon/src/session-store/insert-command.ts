import type { Store } from "@codexkit/store";
import { sql } from "kysely";
import type { DaemonTransaction } from "../database/ownership.ts";
import type { CommandRow, DaemonTables } from "../database/tables.ts";

/**
 * Adds a command at the end of its session's queue or, with `isFirst`, before all unfinished commands. The caller must hold the
 * lock on the session's row.
 */
export async function insertCommand(
  store: Store<DaemonTables>,
  trx: DaemonTransaction,
  command: Pick<CommandRow, "id" | "session_id" | "key" | "fingerprint" | "kind" | "body" | "by">,
  { isFirst = false }: { readonly isFirst?: boolean } = {},
): Promise<CommandRow> {
  return trx
    .insertInto("command")
    .values({
      ...command,
      created_at: store.now,
      position: isFirst
        ? sql<number>`(select coalesce(min("position") - 1, 1) from command where session_id = ${command.session_id} and finished_at is null)`
        : sql<number>`(select coalesce(max("position"), 0) + 1 from command where session_id = ${command.session_id})`,
      started_epoch: null,
      finished_at: null,
      result: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}
