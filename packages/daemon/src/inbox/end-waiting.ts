import type { Store } from "@codexkit/store";
import type { DaemonTransaction } from "../database/ownership.ts";
import type { ApprovalState, DaemonTables } from "../database/tables.ts";

/** States in which Codex has not received an answer. */
export const UNDELIVERED: ApprovalState[] = ["open", "parked", "answered"];

/** Ends the phases `waiting` and `parked`, and that of a delivery without a turn, unless the session waits for another approval. */
export async function endWaiting(
  store: Store<DaemonTables>,
  trx: DaemonTransaction,
  sessionId: string,
): Promise<void> {
  await trx
    .updateTable("session")
    .set(({ eb }) => ({
      phase: eb
        .case()
        .when("active_turn_id", "is", null)
        .then("idle" as const)
        .else("running" as const)
        .end(),
      updated_at: store.now,
    }))
    .where("id", "=", sessionId)
    .where("phase", "in", ["waiting", "parked", "running"])
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom("approval")
            .select("approval.id")
            .where("approval.session_id", "=", sessionId)
            .where("approval.state", "in", UNDELIVERED),
        ),
      ),
    )
    .execute();
}
