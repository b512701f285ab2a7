import type { Store } from "@codexkit/store";
import type { InboxRequest } from "../api/approval.ts";
import type { NewSessionEvent } from "../api/event.ts";
import type { AuditLog } from "../database/audit-log.ts";
import { fingerprint, newId } from "../database/ids.ts";
import { notificationKeys } from "../database/notifications.ts";
import type { DaemonTransaction, Ownership } from "../database/ownership.ts";
import { type ChangesQuery, type Page, type PageQuery, readChanges, readNewest } from "../database/page.ts";
import type { SessionStore } from "../session-store/session-store.ts";
import type { ApprovalRow, ApprovalState, ApprovalTable, DaemonTables } from "../database/tables.ts";
import { waitUntil } from "../database/wait-until.ts";
import { DaemonError } from "../errors.ts";
import type { Journal } from "../journal/journal.ts";
import { maskAnswer } from "../secrets/mask-answer.ts";
import { ApprovalClosedError, ignoreClosed } from "./approval-closed-error.ts";
import { endWaiting, UNDELIVERED } from "./end-waiting.ts";
import { insertApproval, type NewApproval, reopenApproval } from "./new-approval.ts";
import {
  deliveredEvent,
  findRepeatedRequest,
  hasUnansweredParked,
  type ParkedProgress,
} from "./parked-inbox.ts";

/** States in which an entry can be answered. */
const ANSWERABLE: ApprovalState[] = ["open", "parked"];
const NONE: ReadonlySet<string> = new Set();

export interface InboxQuery extends PageQuery {
  readonly state?: ApprovalState | readonly ApprovalState[];
  readonly sessionId?: string;
}

/** Approvals, permission requests, questions and elicitations of all sessions. */
export class Inbox {
  readonly #store: Store<DaemonTables>;
  readonly #journal: Journal;
  readonly #sessions: SessionStore;
  readonly #audit: AuditLog;
  readonly #closed: AbortSignal;

  constructor(
    store: Store<DaemonTables>,
    journal: Journal,
    sessions: SessionStore,
    audit: AuditLog,
    closed: AbortSignal,
  ) {
    this.#store = store;
    this.#journal = journal;
    this.#sessions = sessions;
    this.#audit = audit;
    this.#closed = closed;
  }

  /**
   * Stores an open approval and the event `inbox.opened` after `events`, and sets the session's phase to `waiting`. If
   * the session and thread have an open, parked or undelivered request with the same fingerprint, its row gets the new
   * IDs and is returned. The same applies if the model repeats a parked request because it had to decide again.
   *
   * @param taken IDs of entries that belong to other requests with the same content.
   */
  async open(
    owner: Ownership,
    approval: NewApproval,
    {
      events = [],
      taken = NONE,
    }: { readonly events?: readonly NewSessionEvent[]; readonly taken?: ReadonlySet<string> } = {},
  ): Promise<{ readonly approval: ApprovalRow; readonly isNew: boolean }> {
    const equal = await this.#store.db
      .selectFrom("approval")
      .select("id")
      .where("session_id", "=", owner.sessionId)
      .where("thread_id", "=", approval.threadId)
      .where("fingerprint", "=", approval.fingerprint)
      .where("state", "in", UNDELIVERED)
      .orderBy("id")
      .execute();
    const existing =
      equal.find(({ id }) => !taken.has(id)) ??
      (await findRepeatedRequest(this.#store, owner.sessionId, approval.threadId, {
        request: JSON.stringify(approval.request),
        taken,
      }));
    const id = existing?.id ?? approval.id ?? newId();
    await this.#journal.write({
      owner,
      events: existing ? events : [...events, { type: "inbox.opened", approvalId: id }],
      changes: { phase: "waiting" },
      also: (trx) =>
        existing
          ? reopenApproval(this.#store, trx, owner, id, approval)
          : insertApproval(this.#store, trx, owner, id, approval),
      notify: this.#keys(id),
    });
    return { approval: await this.#require(id), isNew: existing === undefined };
  }

  /**
   * Adds a question of the daemon itself. No process waits for it, and Codex does not receive it: the session's owner
   * at the time of the answer acts on it. Sets the phase to `parked`.
   */
  async ask(owner: Ownership, question: NewApproval): Promise<void> {
    const id = newId();
    await this.#journal.write({
      owner,
      events: [{ type: "inbox.opened", approvalId: id }],
      changes: { phase: "parked" },
      also: async (trx) => {
        await insertApproval(this.#store, trx, owner, id, question);
        // Marked as submitted to Codex, so that nothing of it is delivered there.
        const { now } = this.#store;
        await trx
          .updateTable("approval")
          .set({ state: "parked", parked_at: now, submitted_at: now })
          .where("id", "=", id)
          .execute();
      },
      mayBecomeIdle: true,
      notify: this.#keys(id),
    });
  }

  /**
   * Answers an open or parked approval, and appends `inbox.answered`. The first answer wins: a later one rejects with
   * `already_answered` and the winner in `details`. A repetition of the same answer by the same person is not a
   * conflict. Rejects with `approval_not_found`.
   */
  async answer(
    id: string,
    {
      answer,
      by,
      name = null,
    }: { readonly answer: unknown; readonly by: string; readonly name?: string | null },
  ): Promise<ApprovalRow> {
    const { session_id: sessionId } = await this.#require(id);
    const { approval, events } = await this.#store.db.transaction().execute(async (trx) => {
      // All code locks in this order: the owner locks the session's row before it changes an approval.
      const session = await this.#sessions.lock(trx, sessionId);
      const won = await trx
        .updateTable("approval")
        .set({
          state: "answered",
          answer: JSON.stringify(answer),
          answered_by: by,
          answered_by_name: name,
          answered_at: this.#store.now,
          updated_at: this.#store.now,
        })
        .where("id", "=", id)
        .where("state", "in", ANSWERABLE)
        .where((where) =>
          where.or([where("expires_at", "is", null), where("expires_at", ">", this.#store.now)]),
        )
        .returningAll()
        .executeTakeFirst();
      if (!won) return { approval: await this.#sameAnswer(trx, id, answer, by), events: undefined };
      const isIncomplete = won.parked_at !== null && (await hasUnansweredParked(trx, sessionId));
      const appended = await this.#journal.appendAsClient(
        trx,
        sessionId,
        [{ type: "inbox.answered", approvalId: id, by }],
        // Parked requests are delivered together, so the session has no work before the last answer.
        isIncomplete ? {} : { ready_at: Math.min(session.ready_at ?? won.updated_at, won.updated_at) },
      );
      const detail = { kind: won.kind, answer: publicAnswer(won) };
      await this.#audit.record({ by, action: "approval.answered", sessionId, subject: id, detail }, trx);
      return { approval: won, events: appended };
    });
    if (events) {
      this.#journal.publish(
        [{ sessionId, events }],
        [...this.#keys(id), notificationKeys.ready, notificationKeys.commands(sessionId)],
      );
    }
    return approval;
  }

  /** Records that Codex has received the answer. If the request was parked before, appends `inbox.delivered`. */
  async delivered(owner: Ownership, id: string, note?: string): Promise<void> {
    const { state, progress } = await this.#require(id);
    const { strategy } = JSON.parse(progress ?? "{}") as ParkedProgress;
    const events =
      strategy === undefined || state === "delivered"
        ? []
        : [deliveredEvent(id, strategy, "The model repeated the request.")];
    await this.#close(owner, id, ["answered"], { state: "delivered", note: note ?? null }, events);
  }

  /** Closes an approval that no longer needs an answer. No-op if it is closed or delivered. */
  async withdraw(owner: Ownership, id: string, note: string): Promise<void> {
    const row = await this.#require(id);
    if (!UNDELIVERED.includes(row.state)) return;
    await this.#close(owner, id, UNDELIVERED, { state: "withdrawn", note }, [
      { type: "inbox.withdrawn", approvalId: id, note },
    ]);
  }

  /** Expires an owner's open approvals that were not answered in time, and returns them. */
  async expire(owner: Ownership): Promise<readonly ApprovalRow[]> {
    const due = await this.#store.db
      .selectFrom("approval")
      .selectAll()
      .where("session_id", "=", owner.sessionId)
      .where("state", "in", ANSWERABLE)
      .where("expires_at", "<=", this.#store.now)
      .execute();
    const note = "The request was not answered in time.";
    for (const { id } of due) {
      await this.#close(owner, id, ANSWERABLE, { state: "expired", note }, [
        { type: "inbox.expired", approvalId: id, note },
      ]);
    }
    return Promise.all(due.map(({ id }) => this.#require(id)));
  }

  async get(id: string): Promise<ApprovalRow | undefined> {
    return this.#store.db.selectFrom("approval").selectAll().where("id", "=", id).executeTakeFirst();
  }

  /** Returns one page of entries, newest first. */
  async list({ state, sessionId, ...page }: InboxQuery = {}): Promise<Page<ApprovalRow>> {
    let select = this.#store.db.selectFrom("approval").selectAll();
    if (state !== undefined) select = select.where("state", "in", [state].flat());
    if (sessionId !== undefined) select = select.where("session_id", "=", sessionId);
    return readNewest(select, page);
  }

  /** Returns approvals that changed at or after a time of the store's clock, oldest change first. */
  async changedSince(updatedAt: number, query: ChangesQuery = {}): Promise<readonly ApprovalRow[]> {
    return readChanges(this.#store.db.selectFrom("approval").selectAll(), updatedAt, query);
  }

  /** Resolves when the approval is neither open nor parked. Rejects when the signal aborts. */
  async waitForAnswer(id: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<ApprovalRow> {
    return waitUntil({
      notifier: this.#store.notifier,
      key: notificationKeys.approval(id),
      signals: [this.#closed, ...(signal ? [signal] : [])],
      query: async () => {
        const row = await this.#require(id);
        return ANSWERABLE.includes(row.state) ? undefined : row;
      },
    });
  }

  async #close(
    owner: Ownership,
    id: string,
    from: readonly ApprovalState[],
    set: Pick<ApprovalTable, "state" | "note">,
    events: readonly NewSessionEvent[],
  ): Promise<void> {
    const write = this.#journal.write({
      owner,
      events,
      also: async (trx) => {
        const { numUpdatedRows } = await trx
          .updateTable("approval")
          .set({ ...set, updated_at: this.#store.now })
          .where("id", "=", id)
          .where("session_id", "=", owner.sessionId)
          .where("state", "in", from)
          .executeTakeFirst();
        // Two writes may find it open at the same time. The events of a delivery are appended in any case.
        if (numUpdatedRows === 0n && set.state !== "delivered") throw new ApprovalClosedError();
        await endWaiting(this.#store, trx, owner.sessionId);
      },
      mayBecomeIdle: true,
      notify: [...this.#keys(id), notificationKeys.sessions],
    });
    await ignoreClosed(write);
  }

  /** Returns the stored approval if it has the same answer from the same person. */
  async #sameAnswer(trx: DaemonTransaction, id: string, answer: unknown, by: string): Promise<ApprovalRow> {
    const row = await trx.selectFrom("approval").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
    const stored: unknown = row.answer === null ? undefined : JSON.parse(row.answer);
    if (row.answered_by === by && fingerprint({ answer: stored }) === fingerprint({ answer })) return row;
    const { state, answered_by: answeredBy, answered_by_name: name, answered_at: answeredAt, note } = row;
    throw new DaemonError(
      "already_answered",
      answeredBy === null
        ? `The approval ${id} can't be answered any more: it is ${ANSWERABLE.includes(state) ? "expired" : state}.`
        : `The approval ${id} was already answered by ${name ?? answeredBy}.`,
      {
        details: { winner: { state, by: answeredBy, name, at: answeredAt, answer: publicAnswer(row), note } },
      },
    );
  }

  async #require(id: string): Promise<ApprovalRow> {
    const row = await this.get(id);
    if (!row) throw new DaemonError("approval_not_found", `There is no approval ${id}.`);
    return row;
  }

  #keys(id: string): string[] {
    return [notificationKeys.approval(id), notificationKeys.inbox];
  }
}

/** Returns the answer without secrets, as clients and the audit log receive it. */
function publicAnswer({ request, answer }: ApprovalRow): Record<string, unknown> | null {
  const given = answer === null ? null : (JSON.parse(answer) as Record<string, unknown>);
  return maskAnswer(JSON.parse(request) as InboxRequest, given);
}
