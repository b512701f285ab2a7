import { createProblem, type Problem } from "../api/problem.ts";
import type { NewSessionEvent } from "../api/event.ts";
import type { Database } from "../database.ts";
import { notificationKeys } from "../database/notifications.ts";
import type { Ownership } from "../database/ownership.ts";
import type { SessionRow } from "../database/tables.ts";
import { DaemonError } from "../errors.ts";
import { emptyTurnResult } from "../journal/empty-turn-result.ts";
import { nodeLabel, pinnedNode } from "../session-store/needs.ts";

export interface ForgetOptions {
  /** Whether any node may continue the sessions. Otherwise they fail. */
  readonly rehome: boolean;
  readonly by: string;
}

/**
 * Forgets a lost node, including all its boots. Rejects with `unprocessable` if the node is running. If a call is interrupted, the
 * next one completes its work.
 */
export async function forgetNode(
  database: Database,
  id: string,
  { rehome, by }: ForgetOptions,
): Promise<void> {
  const { fleet, store, audit } = database;
  const { name } = await fleet.require(id);
  // A boot that only hangs must not return while its sessions are ended. If the node is started again, its new boot is left alone.
  const ended = await store.db
    .updateTable("node")
    .set({ lease_until: 0 })
    .where("name", "=", name)
    .where("lease_until", "<=", store.now)
    .returning("id")
    .execute();
  const running = await fleet.findAlive(name);
  if (running) {
    throw new DaemonError(
      "unprocessable",
      `The node "${name}" is running. Stop it first. If it has just died, wait until its lease ends.`,
    );
  }
  const [boot] = ended;
  // Another call has just finished.
  if (!boot) return;
  const sessions = await pinnedSessions(database, name);
  const problem = createProblem(
    "node_lost",
    `The node "${name}" was removed while it was lost, and the files of the session were lost with it.`,
    {
      node: name,
    },
  );
  for (const session of sessions) {
    if (rehome) await releaseFromNode(database, session, name);
    else await failSession(database, session, { nodeId: boot.id, problem });
  }
  await store.db.transaction().execute(async (trx) => {
    const ids = ended.map((node) => node.id);
    // Sessions with work keep their owner, because the node that takes them over must first determine the outcome of their turns.
    await trx
      .updateTable("session")
      .set({ node_id: null })
      .where("node_id", "in", ids)
      .where("ready_at", "is", null)
      .execute();
    await trx
      .deleteFrom("node")
      .where("id", "in", ids)
      .where((where) =>
        where.not(where.exists(where.selectFrom("session").select("id").whereRef("node_id", "=", "node.id"))),
      )
      .execute();
    await audit.record(
      { by, action: "node.forgotten", subject: id, detail: { name, rehome, sessions: sessions.length } },
      trx,
    );
  });
}

async function pinnedSessions({ store }: Database, name: string): Promise<readonly SessionRow[]> {
  const rows = await store.db
    .selectFrom("session")
    .selectAll()
    .where("phase", "<>", "deleted")
    // Only a prefilter: the JSON may contain the name with escapes.
    .where("needs", "like", "%node:%")
    .execute();
  return rows.filter(({ needs }) => pinnedNode(JSON.parse(needs) as string[]) === name);
}

async function releaseFromNode(
  { store, sessions, journal }: Database,
  { id }: SessionRow,
  name: string,
): Promise<void> {
  const events = await store.db.transaction().execute(async (trx) => {
    const { needs, phase, problem, ready_at: readyAt } = await sessions.lock(trx, id);
    const isStranded = phase === "stranded";
    const changes = { phase: isStranded ? (readyAt === null ? "idle" : "ready") : phase } as const;
    await trx
      .updateTable("session")
      .set({
        needs: JSON.stringify((JSON.parse(needs) as string[]).filter((label) => label !== nodeLabel(name))),
        updated_at: store.now,
        problem: isStranded ? null : problem,
      })
      .where("id", "=", id)
      .execute();
    return journal.appendAsClient(trx, id, isStranded ? [{ type: "session.updated", changes }] : [], changes);
  });
  journal.publish([{ sessionId: id, events }], [notificationKeys.sessions, notificationKeys.ready]);
}

/**
 * Ends the turns, commands and approvals that a lost node left unfinished, and fails the session. Until that is done, the session
 * belongs to the lost node, so that a later call can complete it, or the node if it is started again.
 */
async function failSession(
  database: Database,
  session: SessionRow,
  { nodeId, problem }: { readonly nodeId: string; readonly problem: Problem },
): Promise<void> {
  const { store, commands, inbox, journal } = database;
  const { id: sessionId } = session;
  const epoch = session.epoch + 1;
  const { numUpdatedRows } = await store.db
    .updateTable("session")
    .set({ node_id: nodeId, epoch })
    .where("id", "=", sessionId)
    .where("epoch", "=", session.epoch)
    .executeTakeFirst();
  // The node has restarted, or another request was faster.
  if (numUpdatedRows === 0n) return;
  const owner: Ownership = { sessionId, nodeId, epoch };
  const { rows } = await inbox.list({ sessionId, state: ["open", "answered", "parked"], limit: 10_000 });
  for (const { id } of rows) await inbox.withdraw(owner, id, problem.detail);
  for (const { id } of await commands.unfinished(sessionId)) {
    await commands.finish(owner, id, { ok: false, problem });
  }
  await journal.write({
    owner,
    events: [
      ...(await cutOff(database, sessionId, problem)),
      { type: "session.updated", changes: { phase: "failed", problem } },
    ],
    changes: { phase: "failed", problem, activeTurnId: null },
    also: async (trx) => {
      await trx
        .updateTable("session")
        .set({ node_id: null, ready_at: null, interrupted_turn_id: null })
        .where("id", "=", sessionId)
        .execute();
    },
  });
}

/** The events that end the running turns and items. */
async function cutOff({ store }: Database, sessionId: string, problem: Problem): Promise<NewSessionEvent[]> {
  const items = await store.db
    .selectFrom("item")
    .select(["item_id", "turn_id"])
    .where("session_id", "=", sessionId)
    .where("status", "=", "running")
    .execute();
  const turns = await store.db
    .selectFrom("turn")
    .select(["turn_id", "thread_id"])
    .where("session_id", "=", sessionId)
    .where("status", "=", "running")
    .execute();
  return [
    ...items.map(({ item_id: itemId, turn_id: turnId }): NewSessionEvent => ({
      type: "item.abandoned",
      itemId,
      turnId,
    })),
    ...turns.map(({ turn_id: turnId, thread_id: threadId }): NewSessionEvent => ({
      type: "turn.failed",
      threadId,
      turnId,
      problem,
      result: emptyTurnResult(threadId, turnId, "failed"),
    })),
  ];
}
