import type { Store } from "@codexkit/store";
import { sql } from "kysely";
import type { NewSessionEvent, SessionEvent } from "../api/event.ts";
import { DaemonError } from "../errors.ts";
import type { Journal } from "../journal/journal.ts";
import { claimSessions, type ClaimingNode, type ClaimOptions, reclaimSessions } from "./claim-sessions.ts";
import {
  type CreatedSession,
  createFingerprint,
  findCreated,
  insertSession,
  type InsertedSession,
  type InsertOptions,
  type NewSession,
} from "./insert-session.ts";
import { notificationKeys } from "../database/notifications.ts";
import type { ClaimedSession, DaemonTransaction, Ownership } from "../database/ownership.ts";
import {
  type ChangesQuery,
  DEFAULT_PAGE,
  type Page,
  type PageQuery,
  readChanges,
  readCursor,
  toPage,
} from "../database/page.ts";
import { searchCandidates } from "./search-candidates.ts";
import { strandSessions } from "./strand-sessions.ts";
import { purgeSession } from "./purge-session.ts";
import type { SessionChanges } from "../database/session-columns.ts";
import type { DaemonTables, SessionPhase, SessionRow } from "../database/tables.ts";

export type { ClaimOptions } from "./claim-sessions.ts";
export type { InsertedSession, InsertOptions, NewSession } from "./insert-session.ts";
export type { Page } from "../database/page.ts";
export type { SessionChanges } from "../database/session-columns.ts";

export interface SessionQuery extends PageQuery {
  /** Part of the name, the preview or the working folder. Case-insensitive. */
  readonly search?: string;
  /** Default: false. */
  readonly archived?: boolean | "all";
  readonly phase?: SessionPhase | readonly SessionPhase[];
}

export class SessionStore {
  readonly #store: Store<DaemonTables>;
  readonly #journal: Journal;

  constructor(store: Store<DaemonTables>, journal: Journal) {
    this.#store = store;
    this.#journal = journal;
  }

  /**
   * Adds a session, its `create` command, and the events `session.created` and `command.accepted`. A repeated key of the same
   * creator returns the first session, or rejects with `key_reused` if the content differs. For a fork inside the transaction of a
   * command, pass `trx`. Rejects with `too_many_sessions` at the limit `maxSessions`.
   */
  async insert(session: NewSession, options: InsertOptions = {}): Promise<InsertedSession> {
    return insertSession(this.#store, this.#journal, session, options);
  }

  /**
   * Returns the session and command of an earlier request with the same key. Rejects with `key_reused` if that request was
   * different.
   */
  async findCreated({
    by,
    key,
    request,
  }: Required<Pick<NewSession, "by" | "key" | "request">>): Promise<CreatedSession | undefined> {
    return this.#store.db
      .transaction()
      .execute(async (trx) => findCreated(trx, { by, key, fingerprint: createFingerprint(request) }));
  }

  /** Includes deleted sessions: see `phase`. */
  async get(id: string): Promise<SessionRow | undefined> {
    return this.#store.db.selectFrom("session").selectAll().where("id", "=", id).executeTakeFirst();
  }

  /** As `get`, but rejects with `session_not_found` or `session_deleted`. */
  async require(id: string): Promise<SessionRow> {
    const row = await this.get(id);
    if (!row) throw notFound(id);
    this.assertNotDeleted(row);
    return row;
  }

  /** Returns the row, locked until the end of the transaction. Lock a session before its commands and approvals. */
  async lock(trx: DaemonTransaction, id: string): Promise<SessionRow> {
    const select = trx.selectFrom("session").selectAll().where("id", "=", id);
    // SQLite has one connection, so a transaction excludes all others.
    const row = await (this.#store.kind === "postgres" ? select.forUpdate() : select).executeTakeFirst();
    if (!row) throw notFound(id);
    return row;
  }

  assertNotDeleted({ id, phase }: SessionRow): void {
    if (phase === "deleted") throw new DaemonError("session_deleted", `Session ${id} was deleted.`);
  }

  /** Lists sessions, most recently changed first. Deleted sessions are left out. */
  async list(query: SessionQuery = {}): Promise<Page<SessionRow>> {
    const limit = query.limit ?? DEFAULT_PAGE;
    let select = this.#store.db
      .selectFrom("session")
      .selectAll()
      .where("phase", "<>", "deleted")
      .orderBy("updated_at", "desc")
      .orderBy("id", "desc")
      .limit(limit + 1);
    if (query.archived !== "all")
      select = select.where("archived_at", query.archived ? "is not" : "is", null);
    if (query.phase !== undefined) select = select.where("phase", "in", [query.phase].flat());
    if (query.search !== undefined && query.search !== "") {
      const candidates = await searchCandidates(this.#store, query.search.toLowerCase());
      if (candidates?.length === 0) return { rows: [] };
      if (candidates) select = select.where("id", "in", candidates);
      const pattern = `%${query.search.toLowerCase().replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
      const matches = (column: "name" | "preview" | "cwd") =>
        sql<boolean>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`;
      select = select.where((where) => where.or([matches("name"), matches("preview"), matches("cwd")]));
    }
    if (query.cursor !== undefined) {
      const [updatedAt, id] = readCursor(query.cursor, "number", "string");
      select = select.where(sql<boolean>`(updated_at, id) < (${updatedAt}, ${id})`);
    }
    return toPage(await select.execute(), limit, (row) => [row.updated_at, row.id]);
  }

  /** Returns sessions that were changed at or after a time of the store's clock, oldest change first. Includes deleted sessions. */
  async changedSince(updatedAt: number, query: ChangesQuery = {}): Promise<readonly SessionRow[]> {
    return readChanges(this.#store.db.selectFrom("session").selectAll(), updatedAt, query);
  }

  /** Returns the time of the store's clock, for `changedSince`. */
  async now(): Promise<number> {
    const { rows } = await sql<{ now: number }>`select ${this.#store.now} as now`.execute(this.#store.db);
    return rows[0]?.now ?? 0;
  }

  async countByPhase(): Promise<Readonly<Partial<Record<SessionPhase, number>>>> {
    const rows = await this.#store.db
      .selectFrom("session")
      .select(["phase", ({ fn }) => fn.countAll<number>().as("count")])
      .groupBy("phase")
      .execute();
    return Object.fromEntries(rows.map(({ phase, count }) => [phase, count]));
  }

  /** Claims sessions with work and without an owner, sessions of former boots, and sessions of nodes whose lease has ended. */
  async claim(options: ClaimOptions): Promise<readonly ClaimedSession[]> {
    return claimSessions(this.#store, this.#journal, options);
  }

  /** Claims sessions that the node owns already, with a new epoch. */
  async reclaim(ids: readonly string[], node: ClaimingNode): Promise<readonly ClaimedSession[]> {
    return reclaimSessions(this.#store, this.#journal, ids, node);
  }

  /** Marks sessions with work that no live node can run as `stranded`. Returns their number. */
  async strand(options: { readonly waitedMs: number }): Promise<number> {
    return strandSessions(this.#store, this.#journal, options);
  }

  /** Returns the IDs of the sessions that the node owns. */
  async idsOwnedBy(
    nodeId: string,
    db: Pick<Store<DaemonTables>["db"], "selectFrom"> = this.#store.db,
  ): Promise<readonly string[]> {
    const rows = await db.selectFrom("session").select("id").where("node_id", "=", nodeId).execute();
    return rows.map(({ id }) => id);
  }

  /** Sessions that the node owns. */
  async ownedBy(nodeId: string): Promise<readonly SessionRow[]> {
    return this.#store.db.selectFrom("session").selectAll().where("node_id", "=", nodeId).execute();
  }

  /** Releases the session, after all earlier appends. It is claimed again when it has work. */
  async release(owner: Ownership, also?: (trx: DaemonTransaction) => Promise<void>): Promise<void> {
    await this.#journal.write({
      owner,
      also: async (trx) => {
        await also?.(trx);
        await trx.updateTable("session").set({ node_id: null }).where("id", "=", owner.sessionId).execute();
      },
      mayBecomeIdle: true,
      notify: [notificationKeys.ready],
    });
  }

  /**
   * Changes columns and appends events in one transaction. The caller adds `session.updated` where clients need it. Rejects with
   * `fenced` if the session has another owner.
   */
  async update(
    owner: Ownership,
    changes: SessionChanges,
    events: readonly NewSessionEvent[] = [],
  ): Promise<readonly SessionEvent[]> {
    return this.#journal.write({ owner, changes, events, mayBecomeIdle: true });
  }

  /**
   * Deletes the journal, items, commands, approvals and rollouts of a deleted session. Its row and its newest event remain, so that
   * readers learn of the deletion.
   */
  async purge(id: string): Promise<void> {
    await this.#store.db.transaction().execute(async (trx) => {
      const session = await this.lock(trx, id);
      if (session.phase !== "deleted") throw new DaemonError("internal", `Session ${id} is not deleted.`);
      await purgeSession(trx, id);
    });
  }

  /** Purges the deleted sessions whose first purge has failed. */
  async purgeDeleted(): Promise<void> {
    const rows = await this.#store.db
      .selectFrom("session")
      .select("id")
      .where("phase", "=", "deleted")
      .where((where) =>
        where.or([
          where("first_seq", "<", where.ref("last_seq")),
          where.exists(where.selectFrom("item").select("item_id").whereRef("session_id", "=", "session.id")),
        ]),
      )
      .execute();
    for (const { id } of rows) await this.purge(id);
  }
}

function notFound(id: string): DaemonError {
  return new DaemonError("session_not_found", `There is no session ${id}.`);
}
