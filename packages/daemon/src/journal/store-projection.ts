import type { DaemonTransaction } from "../database/ownership.ts";
import type { ItemChange, Projection, TurnChange } from "./projection.ts";

/** Writes the changes of items and turns. The session's own changes are written with its row. */
export async function storeProjection(
  trx: DaemonTransaction,
  sessionId: string,
  { items, turns }: Projection,
): Promise<void> {
  for (const change of items) await storeItem(trx, sessionId, change);
  for (const change of turns) await storeTurn(trx, sessionId, change);
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
  // A late delta or an abandonment must not reopen an item that has ended.
  if (set.status === "abandoned") update = update.where("status", "=", "running");
  await update.execute();
}

async function storeTurn(trx: DaemonTransaction, sessionId: string, change: TurnChange): Promise<void> {
  const { turnId, threadId, insert, set } = change;
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
        ...set,
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
