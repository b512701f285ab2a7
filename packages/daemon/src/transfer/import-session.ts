import { CODEX_VERSION } from "codexkit";
import type { Database } from "../database.ts";
import { newId } from "../database/ids.ts";
import { notificationKeys } from "../database/notifications.ts";
import type { DaemonTransaction } from "../database/ownership.ts";
import type { EventRow, SessionRow } from "../database/tables.ts";
import { DaemonError } from "../errors.ts";
import { insertEvents } from "../journal/insert-events.ts";
import { compareVersions } from "../session-store/claim-sessions.ts";
import { requireFewerSessions } from "../session-store/insert-session.ts";
import { RolloutImport } from "./rollout-import.ts";
import type { LineOf, SessionFileLine } from "./session-file.ts";

const BATCH = 500;
/** SQLSTATE of a unique violation: the file has something twice. */
const UNIQUE_VIOLATION = "23505";

export interface ImportOptions {
  /** The folder of the session here. */
  readonly cwd: string;
  readonly name?: string;
  /** Labels that a node must have to own it. */
  readonly needs: readonly string[];
  readonly nodeName: string;
  readonly maxSessions: number;
  /** Who imports it, for the audit log. */
  readonly by: string;
}

/**
 * Adds an exported session, with its history and its thread, in one transaction. Rejects with `thread_in_use` if a session of
 * this daemon has the thread, and with `unprocessable` if the file is not consistent.
 */
export async function importSession(
  database: Database,
  lines: AsyncIterable<SessionFileLine>,
  options: ImportOptions,
): Promise<SessionRow> {
  const { store, journal, audit } = database;
  const sessionId = newId();
  try {
    const events = await store.db.transaction().execute(async (trx) => {
      await new SessionImport(database, trx, sessionId, options).addAll(lines);
      const detail = { cwd: options.cwd };
      await audit.record({ by: options.by, action: "session.imported", sessionId, detail }, trx);
      return journal.appendAsClient(trx, sessionId, [
        { type: "session.moved", from: null, to: options.nodeName, reason: "request" },
      ]);
    });
    journal.publish([{ sessionId, events }], [notificationKeys.sessions, notificationKeys.inbox]);
  } catch (error) {
    if ((error as { code?: unknown }).code !== UNIQUE_VIOLATION) throw error;
    throw new DaemonError("unprocessable", "The exported session has something twice.", { cause: error });
  }
  return database.sessions.require(sessionId);
}

/** Adds the lines of one file. */
class SessionImport {
  readonly #database: Database;
  readonly #trx: DaemonTransaction;
  readonly #sessionId: string;
  readonly #options: ImportOptions;
  readonly #events: EventRow[] = [];
  #session: LineOf<"session">["session"] | undefined;
  #rollout: RolloutImport | undefined;
  #nextSeq = 0;

  constructor(database: Database, trx: DaemonTransaction, sessionId: string, options: ImportOptions) {
    this.#database = database;
    this.#trx = trx;
    this.#sessionId = sessionId;
    this.#options = options;
  }

  async addAll(lines: AsyncIterable<SessionFileLine>): Promise<void> {
    for await (const line of lines) await this.#add(line);
    await this.#storeEvents();
    await this.#rollout?.end();
    const lastSeq = this.#session?.lastSeq ?? 0;
    if (this.#nextSeq !== lastSeq + 1) {
      throw inconsistent(`Its last event is ${this.#nextSeq - 1}, not ${lastSeq}.`);
    }
  }

  async #add(line: SessionFileLine): Promise<void> {
    const session_id = this.#sessionId;
    switch (line.kind) {
      case "session":
        return this.#addSession(line);
      case "event":
        return this.#addEvent(line);
      case "item":
        await this.#trx
          .insertInto("item")
          .values({ session_id, ...line.item })
          .execute();
        return;
      case "turn": {
        const { kind: _, ...turn } = line;
        await this.#trx
          .insertInto("turn")
          .values({ session_id, ...turn })
          .execute();
        return;
      }
      case "approval":
        return this.#addApproval(line);
      case "rollout":
        await this.#rollout?.end();
        this.#rollout = await RolloutImport.begin(this.#database.rollouts, this.#trx, session_id, line);
        return;
      case "data":
        if (!this.#rollout) throw inconsistent("It has data of no rollout.");
        return this.#rollout.add(Buffer.from(line.base64, "base64"));
      case "end":
    }
  }

  async #addSession({ session, codexVersion }: LineOf<"session">): Promise<void> {
    if (codexVersion !== null && compareVersions(codexVersion, CODEX_VERSION) > 0) {
      throw new DaemonError(
        "unprocessable",
        `The session was written by Codex ${codexVersion}, and this daemon has ${CODEX_VERSION}.`,
      );
    }
    await requireFewerSessions(this.#database.store, this.#trx, this.#options.maxSessions);
    await this.#refuseThreadInUse(session.threadId);
    this.#session = session;
    this.#nextSeq = session.firstSeq;
    const { cwd, name, needs } = this.#options;
    await this.#trx
      .insertInto("session")
      .values({
        id: this.#sessionId,
        tenant_id: "default",
        thread_id: session.threadId,
        name: name ?? session.name,
        cwd,
        settings: JSON.stringify(session.settings),
        setup: JSON.stringify(session.setup),
        goal: session.goal && JSON.stringify(session.goal),
        phase: "idle",
        problem: null,
        active_turn_id: null,
        preview: session.preview,
        usage: session.usage,
        archived_at: session.archivedAt,
        created_at: session.createdAt,
        updated_at: this.#database.store.now,
        node_id: null,
        last_node: null,
        epoch: session.epoch,
        last_seq: session.lastSeq,
        append_id: null,
        first_seq: session.firstSeq,
        merged_seq: session.mergedSeq,
        ready_at: null,
        priority: 0,
        needs: JSON.stringify(needs),
        codex_version: codexVersion,
      })
      .execute();
  }

  async #refuseThreadInUse(threadId: string | null): Promise<void> {
    if (threadId === null) return;
    const used = await this.#trx
      .selectFrom("session")
      .select("id")
      .where("thread_id", "=", threadId)
      .where("phase", "<>", "deleted")
      .executeTakeFirst();
    if (!used) return;
    throw new DaemonError("thread_in_use", `The session ${used.id} has this thread. Fork it instead.`, {
      details: { sessionId: used.id },
    });
  }

  async #addEvent({ kind: _kind, ...row }: LineOf<"event">): Promise<void> {
    const { mergedFrom } = JSON.parse(row.data) as { mergedFrom?: number };
    if ((mergedFrom ?? row.seq) !== this.#nextSeq) {
      throw inconsistent(`The event ${row.seq} does not follow ${this.#nextSeq - 1}.`);
    }
    this.#nextSeq = row.seq + 1;
    this.#events.push({ session_id: this.#sessionId, ...row });
    if (this.#events.length >= BATCH) await this.#storeEvents();
  }

  async #storeEvents(): Promise<void> {
    await insertEvents(this.#trx, this.#database.store.kind, this.#events.splice(0));
  }

  /** Nothing waits for the answers that were open. */
  async #addApproval({ approval }: LineOf<"approval">): Promise<void> {
    const isOver = ["delivered", "withdrawn", "expired"].includes(approval.state);
    await this.#trx
      .insertInto("approval")
      .values({
        session_id: this.#sessionId,
        ...approval,
        ...(!isOver && { state: "withdrawn", note: "The session was moved to another daemon." }),
      })
      .execute();
  }
}

function inconsistent(reason: string): DaemonError {
  return new DaemonError("unprocessable", `The exported session is not consistent. ${reason}`);
}
