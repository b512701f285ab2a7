import type { Store } from "@codexkit/store";
import { sql } from "kysely";
import type { NewSessionEvent } from "../api/event.ts";
import type { SessionSettings, SessionSetup } from "../api/settings.ts";
import { insertCommand } from "./insert-command.ts";
import { DEFAULT_TENANT, findCreateCommand, newSessionRow } from "./new-session-row.ts";
import { requireFewerWaiting } from "./waiting-sessions.ts";
import { DaemonError } from "../errors.ts";
import type { EventBatch, Journal } from "../journal/journal.ts";
import { fingerprint, newId } from "../database/ids.ts";
import { notificationKeys } from "../database/notifications.ts";
import type { DaemonTransaction } from "../database/ownership.ts";
import type { CommandRow, DaemonTables, SessionRow } from "../database/tables.ts";

/** SQLSTATE of a unique violation. It means that another request with the same key was faster. */
const UNIQUE_VIOLATION = "23505";

export interface NewSession {
  /** Default: a new UUID (version 7, so that IDs sort by time). */
  readonly id?: string;
  readonly cwd: string;
  readonly name?: string;
  readonly settings: SessionSettings;
  readonly setup?: SessionSetup;
  readonly priority?: number;
  /** Labels that a node must have to own the session, such as `node:<name>` for a local workspace. */
  readonly needs?: readonly string[];
  readonly tenantId?: string;
  /** The token or user that creates the session. */
  readonly by: string;
  /** Idempotency key, unique per creator. */
  readonly key: string;
  /** The client's request, by which any node recognises a repetition. Default: the content of the session. */
  readonly request?: unknown;
  /** Set for the fork of a thread. The thread already exists, so no `create` command is needed. */
  readonly threadId?: string;
}

export interface InsertedSession {
  readonly session: SessionRow;
  /** The `create` command. Undefined for a fork. */
  readonly command: CommandRow | undefined;
  readonly isNew: boolean;
}

export interface InsertOptions {
  /** The transaction to insert in. Default: a new one. */
  readonly trx?: DaemonTransaction;
  /** Maximum number of sessions, not counting deleted ones. Default: no limit. */
  readonly maxSessions?: number;
  /**
   * Maximum number of sessions of all tenants that may wait for a node. The tenant's own limit applies too. Default: neither is
   * checked.
   */
  readonly maxWaiting?: number;
  /** Throws to refuse the request. Not called for a repeated request, which returns its first result. */
  readonly check?: () => void;
}

export async function insertSession(
  store: Store<DaemonTables>,
  journal: Journal,
  session: NewSession,
  { trx: outer, ...limits }: InsertOptions = {},
): Promise<InsertedSession> {
  if (outer) return insert(store, journal, outer, session, limits);
  const attempt = () => store.db.transaction().execute((trx) => insert(store, journal, trx, session, limits));
  const inserted = await attempt().catch((error: unknown) => {
    if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error;
    return attempt();
  });
  const { events } = inserted;
  if (events) {
    journal.publish(
      [{ sessionId: inserted.session.id, events }],
      [notificationKeys.sessions, notificationKeys.ready],
    );
  }
  return { session: inserted.session, command: inserted.command, isNew: inserted.isNew };
}

async function insert(
  store: Store<DaemonTables>,
  journal: Journal,
  trx: DaemonTransaction,
  session: NewSession,
  { maxSessions, maxWaiting, check }: Omit<InsertOptions, "trx">,
): Promise<InsertedSession & { readonly events?: EventBatch }> {
  const { by, key, threadId, id = newId(), request, ...content } = session;
  const print = createFingerprint(request ?? content);
  const isFork = threadId !== undefined;
  const existing = isFork ? await findById(trx, id) : await findCreated(trx, { by, key, fingerprint: print });
  if (existing) return { ...existing, isNew: false };
  check?.();
  if (maxSessions !== undefined) await requireFewerSessions(store, trx, maxSessions);
  if (maxWaiting !== undefined) {
    await requireFewerWaiting(store, trx, { tenantId: content.tenantId ?? DEFAULT_TENANT, maxWaiting });
  }
  await trx
    .insertInto("session")
    .values({
      id,
      ...newSessionRow({ ...content, threadId, isReady: !isFork }, store.now),
      updated_at: store.now,
    })
    .execute();
  const events: NewSessionEvent[] = [{ type: "session.created" }];
  let command: CommandRow | undefined;
  if (!isFork) {
    const row = { id: newId(), session_id: id, key, fingerprint: print, kind: "create", body: "{}", by };
    command = await insertCommand(store, trx, row);
    events.push({ type: "command.accepted", commandId: command.id, key, kind: "create" });
  }
  const appended = await journal.appendAsClient(trx, id, events);
  return { session: await byId(trx, id), command, isNew: true, events: appended };
}

/**
 * Rejects with `too_many_sessions` if there are already `maxSessions` sessions, not counting deleted ones. A fork counts as soon as
 * its command exists, because its session is added only after Codex has copied the thread, which is too late to refuse it.
 */
export async function requireFewerSessions(
  store: Store<DaemonTables>,
  trx: DaemonTransaction,
  maxSessions: number,
): Promise<void> {
  // Postgres would let concurrent transactions count the same sessions. SQLite runs one after the other.
  if (store.kind === "postgres") await sql`select pg_advisory_xact_lock(hashtext('session'))`.execute(trx);
  const sessions = await trx
    .selectFrom("session")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("phase", "<>", "deleted")
    .executeTakeFirstOrThrow();
  const forks = await trx
    .selectFrom("command")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("kind", "=", "fork")
    .where("finished_at", "is", null)
    .executeTakeFirstOrThrow();
  if (sessions.count + forks.count < maxSessions) return;
  const queued = forks.count > 0 ? `, and ${forks.count} forks that have not run yet` : "";
  throw new DaemonError(
    "too_many_sessions",
    `There are already ${sessions.count} sessions${queued}; the limit is ${maxSessions}. Delete some first.`,
  );
}

export interface CreatedSession {
  readonly session: SessionRow;
  readonly command: CommandRow;
}

export async function findCreated(
  trx: DaemonTransaction,
  request: Parameters<typeof findCreateCommand>[1],
): Promise<CreatedSession | undefined> {
  const command = await findCreateCommand(trx, request);
  return command && { session: await byId(trx, command.session_id), command };
}

export function createFingerprint(request: unknown): string {
  return fingerprint({ kind: "create", ...(request as object) });
}

async function findById(
  trx: DaemonTransaction,
  id: string,
): Promise<Omit<InsertedSession, "isNew"> | undefined> {
  const session = await trx.selectFrom("session").selectAll().where("id", "=", id).executeTakeFirst();
  return session && { session, command: undefined };
}

async function byId(trx: DaemonTransaction, id: string): Promise<SessionRow> {
  return trx.selectFrom("session").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
}
