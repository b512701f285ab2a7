import type { DaemonTransaction } from "../database/ownership.ts";

/** Deletes everything that belongs to a session, except rollout files that a fork still refers to. */
export async function purgeSession(trx: DaemonTransaction, sessionId: string): Promise<void> {
  for (const table of ["item", "turn", "approval", "session_rollout"] as const) {
    await trx.deleteFrom(table).where("session_id", "=", sessionId).execute();
  }
  // Kept so that a repeated delete request finds the first one.
  await trx.deleteFrom("command").where("session_id", "=", sessionId).where("kind", "<>", "delete").execute();
  const { last_seq: lastSeq } = await trx
    .updateTable("session")
    .set((set) => ({ first_seq: set.ref("last_seq"), preview: "", setup: "{}", goal: null }))
    .where("id", "=", sessionId)
    .returning("last_seq")
    .executeTakeFirstOrThrow();
  await trx.deleteFrom("event").where("session_id", "=", sessionId).where("seq", "<", lastSeq).execute();
  await deleteUnusedRollouts(trx);
}

/** Takes several rounds, because a base becomes unused only after the files that refer to it are deleted. */
export async function deleteUnusedRollouts(trx: DaemonTransaction): Promise<void> {
  for (;;) {
    const { numDeletedRows } = await trx
      .deleteFrom("rollout")
      .where((where) =>
        where.and([
          where.not(
            where.exists(
              where
                .selectFrom("session_rollout")
                .select("rollout_id")
                .whereRef("session_rollout.rollout_id", "=", "rollout.id"),
            ),
          ),
          where.not(
            where.exists(
              where
                .selectFrom("rollout as fork")
                .select("fork.id")
                .whereRef("fork.base_id", "=", "rollout.id"),
            ),
          ),
        ]),
      )
      .executeTakeFirst();
    if (numDeletedRows === 0n) break;
  }
  await trx
    .deleteFrom("rollout_chunk")
    .where("rollout_id", "not in", (select) => select.selectFrom("rollout").select("id"))
    .execute();
}
