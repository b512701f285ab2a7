import type { InsertObject } from "kysely";
import { newId } from "../database/ids.ts";
import type { Database } from "../database.ts";
import type { AuditEntry } from "../database/audit-log.ts";
import { notificationKeys } from "../database/notifications.ts";
import type { DaemonTransaction } from "../database/ownership.ts";
import type { DaemonTables, SessionRow } from "../database/tables.ts";
import { DaemonError } from "../errors.ts";
import type { NewSessionEvent } from "../api/event.ts";
import { requireFewerSessions } from "../session-store/insert-session.ts";
import { deleteUnusedRollouts } from "../session-store/purge-session.ts";

/** Number of events that one transaction deletes. */
const DELETE_BATCH = 5000;
/** After this time, any node may remove an unfinished import, because its own node is permanently lost. */
const ABANDONED_MS = 24 * 3_600_000;

export interface StagedSessionOptions {
  readonly threadId: string | null;
  readonly nodeName: string;
  readonly maxSessions: number;
  /** Default: a new ID. */
  readonly sessionId?: string;
}

/** The data that makes the session visible. */
export interface PublishedSession {
  readonly row: Omit<InsertObject<DaemonTables, "session">, "id" | "updated_at">;
  readonly events: readonly NewSessionEvent[];
  readonly audit: AuditEntry;
  /** Additional writes in the same transaction. */
  readonly also?: (trx: DaemonTransaction) => Promise<void>;
}

/**
 * A session that is written in several transactions, so that none of them blocks the store for long. Its rows belong to
 * a session ID without a session row, so no query finds them before `publish`. If it is disposed before that, the rows
 * are deleted. If the daemon is killed, the next start deletes them.
 */
export class StagedSession implements AsyncDisposable {
  readonly sessionId: string;
  readonly #database: Database;
  readonly #options: StagedSessionOptions;
  #isPublished = false;

  private constructor(database: Database, options: StagedSessionOptions) {
    this.#database = database;
    this.#options = options;
    this.sessionId = options.sessionId ?? newId();
  }

  /** Rejects with `thread_in_use` or `too_many_sessions`. */
  static async begin(database: Database, options: StagedSessionOptions): Promise<StagedSession> {
    const staged = new StagedSession(database, options);
    await staged.write(async (trx) => {
      await staged.#checkLimits(trx);
      await staged.#refuseOtherImport(trx);
      await trx
        .insertInto("import")
        .values({
          session_id: staged.sessionId,
          thread_id: options.threadId,
          node_name: options.nodeName,
          started_at: database.store.now,
        })
        .execute();
    });
    return staged;
  }

  /** Deletes the remains of interrupted imports of this node, and of abandoned imports of any node. */
  static async cleanUp(database: Database, nodeName?: string): Promise<number> {
    const { db, now } = database.store;
    const rows = await db
      .selectFrom("import")
      .select("session_id")
      .where((where) =>
        where.or([
          where("started_at", "<", where(now, "-", ABANDONED_MS)),
          ...(nodeName === undefined ? [] : [where("node_name", "=", nodeName)]),
        ]),
      )
      .execute();
    for (const { session_id: sessionId } of rows) await discard(database, sessionId);
    return rows.length;
  }

  /** Stores a part in a separate transaction. */
  async write(work: (trx: DaemonTransaction) => Promise<void>): Promise<void> {
    await this.#database.store.db.transaction().execute(work);
  }

  /** Makes the session visible, with everything that was written. */
  async publish({ row, events, audit, also }: PublishedSession): Promise<SessionRow> {
    const { store, journal, sessions, audit: log } = this.#database;
    const { sessionId } = this;
    const published = await store.db.transaction().execute(async (trx) => {
      await this.#checkLimits(trx);
      const { numDeletedRows } = await trx
        .deleteFrom("import")
        .where("session_id", "=", sessionId)
        .executeTakeFirst();
      if (numDeletedRows === 0n) {
        throw new DaemonError(
          "unprocessable",
          "The import took too long and was removed. Import the session again.",
        );
      }
      await trx
        .insertInto("session")
        .values({ ...row, id: sessionId, updated_at: store.now })
        .execute();
      await also?.(trx);
      await log.record({ ...audit, sessionId }, trx);
      return events.length === 0 ? undefined : journal.appendAsClient(trx, sessionId, events);
    });
    this.#isPublished = true;
    journal.publish(published ? [{ sessionId, events: published }] : [], [
      notificationKeys.sessions,
      notificationKeys.inbox,
      notificationKeys.ready,
    ]);
    return sessions.require(sessionId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isPublished) await discard(this.#database, this.sessionId);
  }

  async #checkLimits(trx: DaemonTransaction): Promise<void> {
    const { threadId, maxSessions } = this.#options;
    await requireFewerSessions(this.#database.store, trx, maxSessions);
    if (threadId === null) return;
    const used = await trx
      .selectFrom("session")
      .select("id")
      .where("thread_id", "=", threadId)
      .where("phase", "<>", "deleted")
      .executeTakeFirst();
    if (!used) return;
    throw new DaemonError(
      "thread_in_use",
      `The session ${used.id} already has this thread. Fork the session instead.`,
      {
        details: { sessionId: used.id },
      },
    );
  }

  async #refuseOtherImport(trx: DaemonTransaction): Promise<void> {
    const { threadId } = this.#options;
    if (threadId === null) return;
    const other = await trx
      .selectFrom("import")
      .select("session_id")
      .where("thread_id", "=", threadId)
      .executeTakeFirst();
    if (other) throw new DaemonError("thread_in_use", "The thread is already being imported.");
  }
}

/** The row of the import is deleted last, so that an interrupted removal is repeated. */
async function discard({ store }: Database, sessionId: string): Promise<void> {
  const { db } = store;
  const newest = await db
    .selectFrom("event")
    .select(({ fn }) => fn.max("seq").as("seq"))
    .where("session_id", "=", sessionId)
    .executeTakeFirst();
  const last = (newest?.seq as number | null | undefined) ?? -1;
  for (let from = 0; from <= last; from += DELETE_BATCH) {
    await db
      .deleteFrom("event")
      .where("session_id", "=", sessionId)
      .where("seq", "<", from + DELETE_BATCH)
      .execute();
  }
  await db.transaction().execute(async (trx) => {
    for (const table of ["item", "turn", "session_rollout"] as const) {
      await trx.deleteFrom(table).where("session_id", "=", sessionId).execute();
    }
    await deleteUnusedRollouts(trx);
    await trx.deleteFrom("import").where("session_id", "=", sessionId).execute();
  });
}
