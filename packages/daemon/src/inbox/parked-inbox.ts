import type { Store } from "@codexkit/store";
import type { Selectable } from "kysely";
import type { NewSessionEvent } from "../api/event.ts";
import type { DaemonTransaction, Ownership } from "../database/ownership.ts";
import { notificationKeys } from "../database/notifications.ts";
import type { SessionChanges } from "../database/session-columns.ts";
import type { ApprovalRow, ApprovalTable, DaemonTables } from "../database/tables.ts";
import type { Journal } from "../journal/journal.ts";
import { ClosedMeanwhile, unlessClosed } from "./closed-meanwhile.ts";
import { leaveWaiting } from "./leave-waiting.ts";

/** Why an approval was parked. */
export type ParkReason = "crash" | "drain" | "memory" | "request";

/**
 * How the answer of a parked approval gets to the model. inject: what was asked is done here, and its output is given to the open
 * call. rewind: the model decides again, and the answer is used if it asks for the same. report: the model is told what is known.
 */
export type DeliveryStrategy = "inject" | "rewind" | "report";

/** What is known about a parked approval, and how far its delivery is. */
export interface ParkedProgress {
  /** Length of the rollout file of the session's own thread, if an agent asked. */
  readonly rootBytes?: number;
  readonly reason?: ParkReason;
  /** Calls of the model without an output, in their order. */
  readonly openCalls?: readonly string[];
  /** Items that had begun since the model's last response, except those that waited for a person. */
  readonly startedItems?: readonly string[];
  /** Whether a process was told the answer before it ended. Then the outcome is not known. */
  readonly wasSubmitted?: boolean;
  readonly strategy?: DeliveryStrategy;
  /** Whether what was asked has been begun here, and whether it has ended. `output` is stored with `done`. */
  readonly action?: "begun" | "done";
  readonly output?: unknown;
  /** Whether the turn that continues may have been started. From then on the thread's file is not cut any more. */
  readonly isContinued?: boolean;
  /** Whether the answer is a rule of this session's policy from now on. */
  readonly isRemembered?: boolean;
  /** Where the thread's file was cut before it was continued. */
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

/** Approvals that wait without a process, and what has to be known of the others to park them. */
export class ParkedInbox {
  readonly #store: Store<DaemonTables>;
  readonly #journal: Journal;

  constructor(store: Store<DaemonTables>, journal: Journal) {
    this.#store = store;
    this.#journal = journal;
  }

  /** Parked approvals of a session that the model has not got the answer of, oldest first. */
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

  /** Approvals of a session whose answers are remembered, oldest first. */
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

  /** Number of approvals of all sessions that wait without a process. */
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
   * Records that Codex is told the answer now: after a crash, the outcome of what was asked is not known. False if the approval
   * was parked or closed meanwhile, so that Codex must not be told.
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
   * Parks approvals with the event `inbox.parked` for each. Open ones stay answerable. Delivered ones are those whose process
   * ended with the answer, and left no sign of having acted on it.
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

  /** Stores how far the delivery is. */
  async record(
    owner: Ownership,
    approvals: readonly ParkedApproval[],
    progress: Partial<ParkedProgress>,
    also?: (trx: DaemonTransaction) => Promise<void>,
  ): Promise<readonly ParkedApproval[]> {
    const changed = approvals.map((row) => ({ ...row, progress: { ...row.progress, ...progress } }));
    await this.#journal.write({
      owner,
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

  /** Records that the model has got the answers, with the event `inbox.delivered` for each. Those that are closed stay as they are. */
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
        // The end of a turn and a delivery that is resumed may both find it open. The event is not stored then.
        if (numUpdatedRows === 0n) throw new ClosedMeanwhile();
        await leaveWaiting(this.#store, trx, owner.sessionId);
      },
      mayBecomeIdle: true,
      notify: [notificationKeys.approval(id), notificationKeys.inbox, notificationKeys.sessions],
    });
    await unlessClosed(write);
  }
}

/** Whether parked approvals of a session have no answer yet. */
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
 * The parked approval of a thread whose request is repeated, because the model decides again. Only an equal request is
 * recognised: any other one is new, and the stored answer does not count for it.
 */
export async function findAskedAgain(
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
