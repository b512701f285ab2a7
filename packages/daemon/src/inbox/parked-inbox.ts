import type { Store } from "@codexkit/store";
import type { Selectable } from "kysely";
import type { NewSessionEvent } from "../api/event.ts";
import type { DaemonTransaction, Ownership } from "../database/ownership.ts";
import { notificationKeys } from "../database/notifications.ts";
import type { SessionChanges } from "../database/session-columns.ts";
import type { ApprovalRow, ApprovalTable, DaemonTables } from "../database/tables.ts";
import type { Journal } from "../journal/journal.ts";
import { ApprovalClosedError, ignoreClosed } from "./approval-closed-error.ts";
import { endWaiting, UNDELIVERED } from "./end-waiting.ts";

/** Why an approval was parked. */
export type ParkReason = "crash" | "drain" | "memory" | "request";

/**
 * How the answer to a parked approval reaches the model. inject: the action is carried out here and its output is
 * returned for the open call. rewind: the model decides again, and the answer applies if it makes the same request.
 * report: the model is informed of the outcome.
 */
export type DeliveryStrategy = "inject" | "rewind" | "report";

/** What is known about a parked approval, and the progress of its delivery. */
export interface ParkedProgress {
  /** Length of the rollout file of the session's own thread, if the request is from an agent. */
  readonly rootBytes?: number;
  readonly reason?: ParkReason;
  /** Calls of the model that have no output yet, in order. */
  readonly openCalls?: readonly string[];
  /** Items that had started since the model's last response, except those that waited for an answer. */
  readonly startedItems?: readonly string[];
  /** Whether the answer was sent to a process before the process ended. If so, the outcome is unknown. */
  readonly wasSubmitted?: boolean;
  readonly strategy?: DeliveryStrategy;
  /**
   * Whether the requested action has been started here, and whether it has finished. `output` is stored with `done`.
   */
  readonly action?: "begun" | "done";
  readonly output?: unknown;
  /**
   * Whether the turn that continues the thread may have been started. After that, the thread's file is not truncated
   * any more.
   */
  readonly isContinued?: boolean;
  /** Whether the answer is now a rule of this session's policy. */
  readonly isRemembered?: boolean;
  /** Length to which the thread's file was truncated before the thread was continued. */
  readonly cutBytes?: number;
}

export interface ParkedApproval extends Selectable<Omit<ApprovalTable, "progress">> {
  readonly progress: ParkedProgress;
}

export interface ParkRequest {
  readonly note: string;
  readonly approvals: readonly { readonly id: string; readonly progress: ParkedProgress }[];
  /** Stored before the events of the approvals. */
  readonly events?: readonly NewSessionEvent[];
  readonly changes?: SessionChanges;
  readonly also?: (trx: DaemonTransaction) => Promise<void>;
}

interface RecordOptions {
  readonly events?: readonly NewSessionEvent[];
  readonly also?: (trx: DaemonTransaction) => Promise<void>;
}

/** Approvals that wait without a process, and the data of other approvals that is needed to park them. */
export class ParkedInbox {
  readonly #store: Store<DaemonTables>;
  readonly #journal: Journal;

  constructor(store: Store<DaemonTables>, journal: Journal) {
    this.#store = store;
    this.#journal = journal;
  }

  /** Returns parked approvals of a session whose answer the model has not received, oldest first. */
  async list(sessionId: string): Promise<readonly ParkedApproval[]> {
    const rows = await this.#store.db
      .selectFrom("approval")
      .selectAll()
      .where("session_id", "=", sessionId)
      .where("parked_at", "is not", null)
      .where("submitted_at", "is", null)
      .where("state", "in", ["parked", "answered", "expired"])
      .orderBy("created_at")
      .orderBy("id")
      .execute();
    return rows.map(toParked);
  }

  /** Returns approvals of a session whose answers are remembered, oldest first. */
  async remembered(sessionId: string): Promise<readonly ParkedApproval[]> {
    const rows = await this.#store.db
      .selectFrom("approval")
      .selectAll()
      .where("session_id", "=", sessionId)
      .where("progress", "like", '%"isRemembered":true%')
      .orderBy("created_at")
      .orderBy("id")
      .execute();
    return rows.map(toParked).filter(({ progress }) => progress.isRemembered === true);
  }

  /** Returns the number of approvals of all sessions that wait without a process. */
  async count(): Promise<number> {
    const { count } = await this.#store.db
      .selectFrom("approval")
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .where("parked_at", "is not", null)
      .where("submitted_at", "is", null)
      .where("state", "in", ["parked", "answered"])
      .executeTakeFirstOrThrow();
    return count;
  }

  /**
   * Records that the answer is about to be sent to Codex. After a crash, the outcome of the request is unknown.
   * Resolves to false if the approval has been parked or closed in the meantime; the answer must then not be sent.
   */
  async recordSubmission(owner: Ownership, id: string): Promise<boolean> {
    let isSubmitted = false;
    await this.#journal.write({
      owner,
      also: async (trx) => {
        const { numUpdatedRows } = await trx
          .updateTable("approval")
          .set({ submitted_at: this.#store.now })
          .where("id", "=", id)
          .where("parked_at", "is", null)
          .where("state", "in", ["answered", "expired"])
          .executeTakeFirst();
        isSubmitted = numUpdatedRows > 0n;
      },
    });
    return isSubmitted;
  }

  /**
   * Parks approvals, and appends `inbox.parked` for each. Open approvals can still be answered. A delivered approval is
   * included if its process received the answer and ended without a sign that it had acted on it.
   */
  async park(owner: Ownership, { note, approvals, events = [], changes, also }: ParkRequest): Promise<void> {
    await this.#journal.write({
      owner,
      events: [
        ...events,
        ...approvals.map(({ id }) => ({ type: "inbox.parked", approvalId: id, note }) as const),
      ],
      changes: { ...changes, phase: "parked" },
      also: async (trx) => {
        for (const { id, progress } of approvals) {
          await trx
            .updateTable("approval")
            .set(({ eb }) => ({
              state: eb
                .case()
                .when("answer", "is", null)
                .then("parked" as const)
                .else("answered" as const)
                .end(),
              note,
              parked_at: this.#store.now,
              submitted_at: null,
              progress: JSON.stringify(progress),
              updated_at: this.#store.now,
            }))
            .where("id", "=", id)
            .where("session_id", "=", owner.sessionId)
            .where("state", "in", ["open", "answered", "delivered"])
            .execute();
        }
        await also?.(trx);
      },
      mayBecomeIdle: true,
      notify: [
        ...approvals.map(({ id }) => notificationKeys.approval(id)),
        notificationKeys.inbox,
        notificationKeys.sessions,
      ],
    });
  }

  /**
   * Sets the phase `running`, because a delivery can take minutes before the turn that continues starts. After a crash, the next
   * owner delivers the answers, which ends the phase.
   */
  async beginDelivery(owner: Ownership): Promise<void> {
    await this.#journal.write({
      owner,
      changes: { phase: "running" },
      notify: [notificationKeys.sessions],
    });
  }

  /** Ends the phase `running` of a delivery that has started no turn. */
  async endDelivery(owner: Ownership): Promise<void> {
    await this.#journal.write({
      owner,
      also: async (trx) => {
        const undelivered = trx
          .selectFrom("approval")
          .select("id")
          .where("session_id", "=", owner.sessionId)
          .where("state", "in", UNDELIVERED);
        await trx
          .updateTable("session")
          .set((where) => ({
            phase: where
              .case()
              .when(where.exists(undelivered))
              .then("parked" as const)
              .else("idle" as const)
              .end(),
            updated_at: this.#store.now,
          }))
          .where("id", "=", owner.sessionId)
          .where("phase", "=", "running")
          .where("active_turn_id", "is", null)
          .execute();
      },
      notify: [notificationKeys.sessions],
    });
  }

  /** Stores the progress of the delivery, with events that belong to it. */
  async record(
    owner: Ownership,
    approvals: readonly ParkedApproval[],
    progress: Partial<ParkedProgress>,
    { events = [], also }: RecordOptions = {},
  ): Promise<readonly ParkedApproval[]> {
    const changed = approvals.map((row) => ({ ...row, progress: { ...row.progress, ...progress } }));
    await this.#journal.write({
      owner,
      events,
      also: async (trx) => {
        for (const { id, progress: stored } of changed) {
          await trx
            .updateTable("approval")
            .set({ progress: JSON.stringify(stored) })
            .where("id", "=", id)
            .execute();
        }
        await also?.(trx);
      },
    });
    return changed;
  }

  /**
   * Records the turn that continues. Its own events may be stored later, and until then no other owner would find out what became
   * of the turn.
   */
  async recordTurn(owner: Ownership, turnId: string, { also }: Pick<RecordOptions, "also">): Promise<void> {
    const { sessionId } = owner;
    await this.#journal.write({
      owner,
      also: async (trx) => {
        await also?.(trx);
        const ended = trx
          .selectFrom("turn")
          .select("turn_id")
          .where("session_id", "=", sessionId)
          .where("turn_id", "=", turnId)
          .where("status", "<>", "running");
        await trx
          .updateTable("session")
          .set({ active_turn_id: turnId })
          .where("id", "=", sessionId)
          .where("active_turn_id", "is", null)
          .where((where) => where.not(where.exists(ended)))
          .execute();
      },
    });
  }

  /**
   * Records that the model has received the answers, and appends `inbox.delivered` for each. Closed approvals are not
   * changed.
   */
  async finish(owner: Ownership, delivered: readonly ParkedApproval[], note: string): Promise<void> {
    const open = new Set((await this.list(owner.sessionId)).map(({ id }) => id));
    const approvals = delivered.filter(({ id }) => open.has(id));
    await Promise.all(approvals.map((approval) => this.#finish(owner, approval, note)));
  }

  async #finish(owner: Ownership, { id, progress }: ParkedApproval, note: string): Promise<void> {
    const write = this.#journal.write({
      owner,
      events: [deliveredEvent(id, progress.strategy ?? "report", note)],
      also: async (trx) => {
        const { numUpdatedRows } = await trx
          .updateTable("approval")
          .set(({ eb }) => ({
            state: eb
              .case()
              .when("state", "=", "answered")
              .then("delivered" as const)
              .else(eb.ref("state"))
              .end(),
            note,
            submitted_at: this.#store.now,
            updated_at: this.#store.now,
          }))
          .where("id", "=", id)
          .where("submitted_at", "is", null)
          .executeTakeFirst();
        // The end of a turn and a resumed delivery may both find it open. The event is then not stored.
        if (numUpdatedRows === 0n) throw new ApprovalClosedError();
        await endWaiting(this.#store, trx, owner.sessionId);
      },
      mayBecomeIdle: true,
      notify: [notificationKeys.approval(id), notificationKeys.inbox, notificationKeys.sessions],
    });
    await ignoreClosed(write);
  }
}

/** Whether a session has parked approvals without an answer. */
export async function hasUnansweredParked(trx: DaemonTransaction, sessionId: string): Promise<boolean> {
  const row = await trx
    .selectFrom("approval")
    .select("id")
    .where("session_id", "=", sessionId)
    .where("state", "=", "parked")
    .executeTakeFirst();
  return row !== undefined;
}

export function deliveredEvent(
  approvalId: string,
  strategy: DeliveryStrategy,
  note: string,
): NewSessionEvent {
  return { type: "inbox.delivered", approvalId, strategy, note };
}

/**
 * Returns the parked approval of a thread whose request the model repeats, because it has to decide again. Only an
 * identical request is recognised. Any other request is new, and the stored answer does not apply to it.
 */
export async function findRepeatedRequest(
  store: Store<DaemonTables>,
  sessionId: string,
  threadId: string,
  { request, taken }: { readonly request: string; readonly taken: ReadonlySet<string> },
): Promise<{ readonly id: string } | undefined> {
  const rows = await store.db
    .selectFrom("approval")
    .selectAll()
    .where("session_id", "=", sessionId)
    .where("thread_id", "=", threadId)
    .where("parked_at", "is not", null)
    .where("submitted_at", "is", null)
    .where("state", "in", ["answered", "expired"])
    .execute();
  return rows
    .map(toParked)
    .find((row) => row.progress.isContinued === true && row.request === request && !taken.has(row.id));
}

function toParked({ progress, ...row }: ApprovalRow): ParkedApproval {
  return { ...row, progress: progress === null ? {} : (JSON.parse(progress) as ParkedProgress) };
}
