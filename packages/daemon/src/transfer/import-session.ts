import { CODEX_VERSION } from "codexkit";
import type { PermissionMode } from "../api/settings.ts";
import type { Database } from "../database.ts";
import type { DaemonTransaction } from "../database/ownership.ts";
import type { EventRow, SessionRow } from "../database/tables.ts";
import { DaemonError } from "../errors.ts";
import { insertEvents } from "../journal/insert-events.ts";
import { compareVersions } from "../session-store/placement.ts";
import { isAnswered, isParked, type MovedFolders, moveRequest, withoutAnswer } from "./imported-approval.ts";
import { RolloutImport } from "./rollout-import.ts";
import type { LineOf, SessionFileLine } from "./session-file.ts";
import { DEFAULT_TENANT } from "../session-store/new-session-row.ts";
import { StagedSession } from "./staged-session.ts";
import { describeLeftOut, type LeftOut, NOTHING_LEFT_OUT, withoutPrograms } from "./untrusted-parts.ts";

/** Maximum size of one transaction. On SQLite, other writes wait for it. */
const BATCH = { lines: 500, characters: 4 * 1024 * 1024 } as const;
/** Approvals are stored in the same transaction as the session. */
const MAX_APPROVALS = 20_000;
/**
 * Codes of unique violations of Postgres and SQLite. The file contains something twice, or something that belongs to
 * another session.
 */
const UNIQUE_VIOLATIONS: ReadonlySet<unknown> = new Set(["23505", 1555, 2067]);

export interface ImportOptions {
  /** The folder of the session on this machine. Default: the original folder. */
  readonly cwd?: string;
  readonly name?: string;
  /** Labels that a node must have to own it. */
  readonly needs: readonly string[];
  /** Default: `default`. */
  readonly tenantId?: string;
  readonly nodeName: string;
  readonly maxSessions: number;
  /** ID of the importer, for the audit log. */
  readonly by: string;
  /** Whether to import parts that run programs here. The file is then as powerful as code. Default: false. */
  readonly isTrusted?: boolean;
  /** Default: the original mode; without trust, at most `workspace-write`. */
  readonly permissionMode?: PermissionMode;
  /**
   * Whether the session is only viewed. It keeps its ID, its journal and the states of its approvals. Default: false.
   */
  readonly isReplay?: boolean;
}

export interface ImportResult {
  readonly session: SessionRow;
  readonly leftOut: LeftOut;
}

/**
 * Adds an exported session, with its history and thread, in transactions of limited size. The last one makes the
 * session visible. Rejects with `thread_in_use` if another session of this daemon has the thread, and with
 * `unprocessable` if the file is inconsistent. In that case, all changes are undone.
 */
export async function importSession(
  database: Database,
  lines: AsyncIterable<SessionFileLine>,
  options: ImportOptions,
): Promise<ImportResult> {
  const iterator = lines[Symbol.asyncIterator]();
  const { value: first } = (await iterator.next()) as { value?: SessionFileLine };
  if (first?.kind !== "session") throw inconsistent("It does not begin with a session.");
  checkVersion(first);
  const { nodeName, maxSessions, isReplay = false } = options;
  const { threadId, id } = first.session;
  await using staged = await StagedSession.begin(database, {
    threadId,
    nodeName,
    maxSessions,
    ...(isReplay && { sessionId: id }),
  });
  const work = new SessionImport(database, staged, first);
  try {
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      await work.add(next.value);
    }
    return await work.publish(options);
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new DaemonError(
      "unprocessable",
      "The exported session contains an entry twice, or an entry that another session of this daemon has.",
      { cause: error },
    );
  } finally {
    await iterator.return?.();
  }
}

/** Adds the lines of one file. */
class SessionImport {
  readonly #database: Database;
  readonly #staged: StagedSession;
  readonly #first: LineOf<"session">;
  /** Lines for the next transaction. */
  #pending: SessionFileLine[] = [];
  #characters = 0;
  /**
   * Stored together with the session, because the inbox lists approvals without checking whether their session exists.
   */
  readonly #approvals: LineOf<"approval">[] = [];
  #rollout: RolloutImport | undefined;
  /** The base of each rollout file. */
  readonly #bases = new Map<string, string | null>();
  #nextSeq: number;
  /** Whether an item has ended. If so, Codex has stored the thread. */
  #hasItems = false;

  constructor(database: Database, staged: StagedSession, first: LineOf<"session">) {
    this.#database = database;
    this.#staged = staged;
    this.#first = first;
    this.#nextSeq = first.session.firstSeq;
  }

  async add(line: SessionFileLine): Promise<void> {
    if (line.kind === "event") this.#checkOrder(line);
    if (line.kind === "approval") {
      if (this.#approvals.length === MAX_APPROVALS)
        throw inconsistent(`It has more than ${MAX_APPROVALS} approvals.`);
      this.#approvals.push(line);
      return;
    }
    this.#pending.push(line);
    this.#characters += sizeOf(line);
    if (this.#pending.length >= BATCH.lines || this.#characters >= BATCH.characters) await this.#store();
  }

  async publish(options: ImportOptions): Promise<ImportResult> {
    await this.#store();
    this.#rollout?.end();
    this.#requireBases();
    const { codexVersion } = this.#first;
    const { isReplay = false, permissionMode } = options;
    const isTrusted = options.isTrusted === true || isReplay;
    const { session, leftOut } = isTrusted
      ? { session: this.#first.session, leftOut: NOTHING_LEFT_OUT }
      : withoutPrograms(this.#first.session);
    const result: LeftOut = {
      ...leftOut,
      mcpServers: [...(session.leftOut ?? []), ...leftOut.mcpServers],
      ...(permissionMode && { permissionMode: null }),
      answers: isTrusted ? 0 : this.#forgetAnswers(),
    };
    const message = describeLeftOut(result);
    const { threadId } = session;
    // Codex does not store a thread without messages. Such a session starts with a new thread.
    const hasHistory = this.#bases.size > 0 || (this.#hasItems && !isReplay);
    if (threadId !== null && hasHistory && !this.#bases.has(threadId)) {
      throw inconsistent(`It has no rollout for its thread ${threadId}.`);
    }
    if (this.#nextSeq !== session.lastSeq + 1) {
      throw inconsistent(`Its last event is ${this.#nextSeq - 1}, not ${session.lastSeq}.`);
    }
    const { cwd = session.cwd, name, needs, tenantId = DEFAULT_TENANT, nodeName, by } = options;
    const folders = { from: session.cwd, to: cwd };
    const settings = { ...session.settings, ...(permissionMode && { permissionMode }) };
    const row = await this.#staged.publish({
      row: {
        ...toRow({ ...session, settings }),
        name: name ?? session.name,
        cwd,
        needs: JSON.stringify(needs),
        tenant_id: tenantId,
        codex_version: codexVersion,
        // The session continues when its parked approvals are answered, which may already be the case.
        ...(!isReplay &&
          this.#approvals.some((line) => isParked(line) && line.approval.state !== "expired") && {
            phase: "parked" as const,
            ready_at: this.#database.store.now,
          }),
      },
      events: isReplay
        ? []
        : [
            { type: "session.moved", from: null, to: nodeName, reason: "request" },
            ...(message === undefined ? [] : [{ type: "warning", kind: "config", message } as const]),
          ],
      audit: { by, action: "session.imported", detail: { cwd, isTrusted } },
      also: async (trx) => {
        for (const line of this.#approvals) await this.#addApproval(trx, line, { isReplay, folders });
      },
    });
    return { session: row, leftOut: result };
  }

  /**
   * The answers in a file could run commands that no user of this daemon has accepted, so they are removed. Returns the
   * number of approvals that have to be answered again.
   */
  #forgetAnswers(): number {
    const count = this.#approvals.filter(isAnswered).length;
    this.#approvals.splice(0, Infinity, ...this.#approvals.map(withoutAnswer));
    return count;
  }

  async #store(): Promise<void> {
    const lines = this.#pending;
    this.#pending = [];
    this.#characters = 0;
    if (lines.length === 0) return;
    await this.#staged.write(async (trx) => {
      const events: EventRow[] = [];
      for (const line of lines) await this.#addLine(trx, line, events);
      await insertEvents(trx, this.#database.store.kind, events);
    });
  }

  async #addLine(trx: DaemonTransaction, line: SessionFileLine, events: EventRow[]): Promise<void> {
    const session_id = this.#staged.sessionId;
    switch (line.kind) {
      case "session":
        throw inconsistent("It has a second session.");
      case "event": {
        const { kind: _, ...event } = line;
        events.push({ session_id, ...event });
        return;
      }
      case "item":
        this.#hasItems ||= line.item.status === "completed";
        await trx
          .insertInto("item")
          .values({ session_id, ...line.item })
          .execute();
        return;
      case "turn": {
        const { kind: _, ...turn } = line;
        await trx
          .insertInto("turn")
          .values({ session_id, ...turn })
          .execute();
        return;
      }
      case "rollout":
        this.#rollout?.end();
        this.#checkName(line);
        this.#checkBase(line);
        this.#rollout = await RolloutImport.begin(this.#database.rollouts, trx, session_id, line);
        return;
      case "data":
        if (!this.#rollout) throw inconsistent("It has data without a rollout.");
        return this.#rollout.add(trx, Buffer.from(line.base64, "base64"));
      case "approval":
      case "end":
    }
  }

  /** A rollout is truncated when a parked request is answered. It must therefore belong to this thread. */
  #checkName({ id, role }: LineOf<"rollout">): void {
    const { threadId } = this.#first.session;
    if (role === "main" && id !== threadId && !id.startsWith(`${threadId}_`)) {
      throw inconsistent(`The rollout ${id} does not belong to the thread ${threadId}.`);
    }
  }

  /** Rejects circular references between files, because such files would never be removed. */
  #checkBase({ id, baseId }: LineOf<"rollout">): void {
    if (this.#bases.has(id)) throw inconsistent(`It has the rollout ${id} twice.`);
    this.#bases.set(id, baseId);
    const seen = new Set([id]);
    for (let base = baseId; base !== null; base = this.#bases.get(base) ?? null) {
      if (seen.has(base)) throw inconsistent(`The rollout ${id} refers to itself.`);
      seen.add(base);
    }
  }

  /** Rejects a base that is not in the file. It could be the thread of another session. */
  #requireBases(): void {
    for (const [id, baseId] of this.#bases) {
      if (baseId === null || this.#bases.has(baseId)) continue;
      throw inconsistent(`It does not have the rollout ${baseId}, which the rollout ${id} continues.`);
    }
  }

  #checkOrder({ seq, data }: LineOf<"event">): void {
    const { mergedFrom } = JSON.parse(data) as { mergedFrom?: number };
    if ((mergedFrom ?? seq) !== this.#nextSeq) {
      throw inconsistent(`The event ${seq} does not follow ${this.#nextSeq - 1}.`);
    }
    this.#nextSeq = seq + 1;
  }

  /** Open approvals are withdrawn, because no process waits for them. Parked approvals are delivered here. */
  async #addApproval(
    trx: DaemonTransaction,
    line: LineOf<"approval">,
    { isReplay, folders }: { isReplay: boolean; folders: MovedFolders },
  ): Promise<void> {
    const { approval } = line;
    const isClosed =
      isReplay || isParked(line) || ["delivered", "withdrawn", "expired"].includes(approval.state);
    await trx
      .insertInto("approval")
      .values({
        session_id: this.#staged.sessionId,
        ...approval,
        ...(isParked(line) && { request: moveRequest(approval.request, folders) }),
        ...(!isClosed && { state: "withdrawn", note: "The session was moved to another daemon." }),
      })
      .execute();
  }
}

function isUniqueViolation(error: unknown): boolean {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return UNIQUE_VIOLATIONS.has(code) || UNIQUE_VIOLATIONS.has(errcode);
}

function checkVersion({ codexVersion }: LineOf<"session">): void {
  if (codexVersion === null || compareVersions(codexVersion, CODEX_VERSION) <= 0) return;
  throw new DaemonError(
    "unprocessable",
    `The session was written by Codex ${codexVersion}, but this daemon uses Codex ${CODEX_VERSION}.`,
  );
}

function toRow(session: LineOf<"session">["session"]) {
  return {
    thread_id: session.threadId,
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
    node_id: null,
    last_node: null,
    epoch: session.epoch,
    last_seq: session.lastSeq,
    append_id: null,
    first_seq: session.firstSeq,
    merged_seq: session.mergedSeq,
    ready_at: null,
    priority: 0,
  } as const;
}

/** Counts the characters of the parts that can be long. */
function sizeOf(line: SessionFileLine): number {
  switch (line.kind) {
    case "event":
      return line.data.length;
    case "item":
      return line.item.preview.length;
    case "data":
      return line.base64.length;
    default:
      return 0;
  }
}

function inconsistent(reason: string): DaemonError {
  return new DaemonError("unprocessable", `The exported session is inconsistent. ${reason}`);
}
