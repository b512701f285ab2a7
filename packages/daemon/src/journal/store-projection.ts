import { sql } from "kysely";
import type { DaemonTransaction } from "../database/ownership.ts";
import type { ItemChange, Projection, TurnChange } from "./projection.ts";

/** Writes the changes of items and turns. The session's own changes are written with its row. */
export async function storeProjection(
  trx: DaemonTransaction,
  sessionId: string,
  { items, turns, reverts }: Projection,
): Promise<void> {
  for (const change of items) await storeItem(trx, sessionId, change);
  for (const change of turns) await storeTurn(trx, sessionId, change);
  for (const revert of reverts) await removeReverted(trx, sessionId, revert);
}

async function storeItem(trx: DaemonTransaction, sessionId: string, change: ItemChange): Promise<void> {
  const { itemId, threadId, turnId, insert, set } = change;
  if (insert) {
    await trx
      .insertInto("item")
      .values({
        session_id: sessionId,
        item_id: itemId,
        thread_id: threadId,
        turn_id: turnId,
        status: "running",
        last_seq: insert.first_seq,
        completed_seq: null,
        preview: "{}",
        body_length: 0,
        ...insert,
        ...set,
      })
      .onConflict((conflict) =>
        conflict.columns(["session_id", "item_id", "turn_id", "thread_id"]).doUpdateSet(set),
      )
      .execute();
    return;
  }
  let update = trx
    .updateTable("item")
    .set(set)
    .where("session_id", "=", sessionId)
    .where("item_id", "=", itemId)
    .where("turn_id", "=", turnId);
  if (threadId !== "") update = update.where("thread_id", "=", threadId);
  // A late `item.abandoned` must not change an item that has ended.
  if (set.status === "abandoned") update = update.where("status", "=", "running");
  await update.execute();
}

/** Removes reverted items and turns. A turn that the journal does not have is older than all that it has. */
async function removeReverted(
  trx: DaemonTransaction,
  sessionId: string,
  { beforeTurnId, seq }: Projection["reverts"][number],
): Promise<void> {
  const turn = await trx
    .selectFrom("turn")
    .select("first_seq")
    .where("session_id", "=", sessionId)
    .where("turn_id", "=", beforeTurnId)
    .executeTakeFirst();
  for (const table of ["item", "turn"] as const) {
    await trx
      .deleteFrom(table)
      .where("session_id", "=", sessionId)
      .where("first_seq", ">=", turn?.first_seq ?? 0)
      .where("first_seq", "<", seq)
      .execute();
  }
}

async function storeTurn(trx: DaemonTransaction, sessionId: string, change: TurnChange): Promise<void> {
  const { turnId, threadId, insert } = change;
  const { title, ...columns } = change.set;
  // A turn is named after its first message, not after messages that steered it.
  const set = { ...columns, ...(title !== undefined && { title: titleIfNone(title) }) };
  if (insert) {
    await trx
      .insertInto("turn")
      .values({
        session_id: sessionId,
        turn_id: turnId,
        thread_id: threadId,
        last_seq: insert.first_seq,
        status: "running",
        title: "",
        ended_at: null,
        usage: null,
        diff_stat: null,
        ...insert,
        ...columns,
        ...(title !== undefined && { title }),
      })
      .onConflict((conflict) => conflict.columns(["session_id", "turn_id"]).doUpdateSet(set))
      .execute();
    return;
  }
  if (Object.keys(set).length === 0) return;
  await trx
    .updateTable("turn")
    .set(set)
    .where("session_id", "=", sessionId)
    .where("turn_id", "=", turnId)
    .execute();
}

function titleIfNone(title: string) {
  return sql<string>`case when turn.title = '' then ${title} else turn.title end`;
}
