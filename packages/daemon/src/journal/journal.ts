import { setImmediate as nextRound } from "node:timers/promises";
import { raceAbort } from "@codexkit/rpc/async";
import type { Store } from "@codexkit/store";
import type { NewSessionEvent, SessionEvent } from "../api/event.ts";
import { notificationKeys } from "../database/notifications.ts";
import type { DaemonTransaction, Ownership } from "../database/ownership.ts";
import type { Page } from "../database/page.ts";
import type { DaemonTables, ItemRow, SessionTable, TurnRow } from "../database/tables.ts";
import { DaemonError } from "../errors.ts";
import { appendAsClient } from "./commit.ts";
import type { EventBatch } from "./event-batch.ts";
import { EventReader } from "./event-reader.ts";
import { encodeEvent } from "./event-row.ts";
import { History, type ItemBody, type ItemBodyQuery, type ItemsQuery } from "./history.ts";
import { JournalWriter, type CommittedEvents } from "./journal-writer.ts";
import type { JournalLimits } from "./limits.ts";
import { Retainer, type Retention, type RetentionResult } from "./retention.ts";
import { SessionFeeds } from "./session-feeds.ts";
import type { WriteRequest } from "./write.ts";

export type { ItemBody, ItemBodyQuery, ItemsQuery } from "./history.ts";
export type { EventBatch } from "./event-batch.ts";
export type { JournalLimits } from "./limits.ts";
export type { Retention, RetentionResult } from "./retention.ts";

const DEFAULT_PAGE = 500;
const CLOSE_MS = 5_000;
/** A key that is never notified. Its listener is only called by polls. */
const REWIND_CHECKS = "journal-rewound";

export interface FollowOptions {
  /** Sequence number of the last event that the reader has. Default: 0. */
  readonly after?: number;
  readonly signal?: AbortSignal;
}

export interface JournalPage {
  readonly events: readonly SessionEvent[];
  /** Set if retention has removed events after the cursor. `events` start after the gap. */
  readonly gap?: { readonly from: number; readonly to: number };
  /** Sequence number of the newest stored event. */
  readonly lastSeq: number;
}

/** Stores and serves every event of every session, with gapless sequence numbers. */
export class Journal {
  readonly #store: Store<DaemonTables>;
  readonly #limits: JournalLimits;
  readonly #writer: JournalWriter;
  readonly #reader: EventReader;
  readonly #history: History;
  readonly #retainer: Retainer;
  readonly #rewindChecks: Disposable;
  readonly #feeds: SessionFeeds;
  #isRestoring = false;
  #isClosed = false;

  constructor(store: Store<DaemonTables>, limits: JournalLimits) {
    this.#store = store;
    this.#limits = limits;
    this.#writer = new JournalWriter(store, limits, (committed, keys) => this.publish(committed, keys));
    this.#reader = new EventReader(store, limits);
    this.#feeds = new SessionFeeds(store.notifier, this.#reader, limits);
    this.#history = new History(store);
    this.#retainer = new Retainer(store);
    this.#rewindChecks = store.notifier.subscribe(REWIND_CHECKS, (hint) => {
      if (hint === "poll") this.#restoreLost();
    });
  }

  /**
   * Appends events and updates the items, turns and session that they describe, in one transaction with `also`. Resolves after the
   * commit. Events of one session are stored in the order of the calls, so callers need not wait for each call. Events wait briefly
   * for others to share a commit with, except the end of a turn and requests. Retries while the store is full or can't be reached.
   * Rejects with `fenced` if the session has another owner. `also` may run more than once; only the last run is committed.
   */
  async append(
    owner: Ownership,
    events: readonly NewSessionEvent[],
    also?: (trx: DaemonTransaction) => Promise<unknown>,
  ): Promise<readonly SessionEvent[]> {
    return this.#writer.write({ owner, events, canWait: true, ...(also && { also }) });
  }

  /**
   * Like `append`, for a caller that does not wait. `onError` receives the error with which `append` would reject. Events of one
   * owner that are added before the next commit succeed or fail together.
   */
  enqueue(
    owner: Ownership,
    events: readonly NewSessionEvent[],
    {
      also,
      onError,
    }: {
      readonly also?: ((trx: DaemonTransaction) => Promise<unknown>) | undefined;
      readonly onError: (error: unknown) => void;
    },
  ): void {
    this.#writer.enqueue({ owner, events, canWait: true, ...(also && { also }) }, onError);
  }

  /** Like `append`, but commits immediately, and can change columns of the session. Used by the other stores. */
  async write(request: WriteRequest): Promise<readonly SessionEvent[]> {
    return this.#writer.write(request);
  }

  /** Appends events of a client inside its transaction. Call `publish` after the commit. */
  async appendAsClient(
    trx: DaemonTransaction,
    sessionId: string,
    events: readonly NewSessionEvent[],
    columns?: Partial<Pick<SessionTable, "ready_at" | "phase">>,
  ): Promise<EventBatch> {
    return appendAsClient(
      this.#store,
      trx,
      sessionId,
      events.map((event) => encodeEvent(event)),
      columns,
    );
  }

  /** Hands committed events to the readers of this process, and notifies the other processes. */
  publish(committed: readonly CommittedEvents[], keys: readonly string[] = []): void {
    const changed = committed.filter(({ events }) => events.length > 0);
    for (const { sessionId, events } of changed) this.#feeds.push(sessionId, events);
    this.#feeds.notifyOthers(
      new Set([...changed.map(({ sessionId }) => notificationKeys.journal(sessionId)), ...keys]),
    );
  }

  /** Bytes of the events that are waiting to be stored. */
  get unstoredBytes(): number {
    return this.#writer.unstoredBytes;
  }

  /** Whether `waitForCapacity` would resolve immediately. */
  get hasCapacity(): boolean {
    return this.#writer.hasCapacity;
  }

  /** Resolves immediately unless too much is waiting to be stored. Callers that don't await `append` wait here instead. */
  async waitForCapacity(signal?: AbortSignal): Promise<void> {
    await this.#writer.waitForCapacity(signal);
  }

  /**
   * Reads events after a sequence number. Rejects with `session_not_found`, or with `invalid_cursor` if the cursor is newer than
   * the newest event.
   */
  async read(
    sessionId: string,
    { after = 0, limit = DEFAULT_PAGE }: { readonly after?: number; readonly limit?: number } = {},
  ): Promise<JournalPage> {
    const { batch, ...page } = await this.#reader.page(sessionId, after, limit);
    return { events: batch.events, ...page };
  }

  /**
   * Yields stored events after the cursor, then new ones, in batches and without repetition. A gap is yielded as a `gap` event
   * whose `seq` is the last missing number. A slow reader uses no memory, because it reads from the store. Ends when the signal
   * aborts, after `session.deleted`, or when the database is closed.
   */
  async *follow(
    sessionId: string,
    options?: FollowOptions,
  ): AsyncGenerator<readonly SessionEvent[], void, undefined> {
    for await (const { events } of this.followBatches(sessionId, options)) yield events;
  }

  /** Like `follow`, without decoding the events. Readers at the same position get the same batch. */
  async *followBatches(
    sessionId: string,
    { after = 0, signal }: FollowOptions = {},
  ): AsyncGenerator<EventBatch, void, undefined> {
    let cursor = after;
    const feed = await this.#feeds.open(sessionId, after);
    try {
      for (;;) {
        if (signal?.aborted || this.#isClosed) return;
        const step = feed.next(cursor);
        if (step.kind === "wait") {
          await raceAbort(step.changed, signal).catch((error: unknown) => {
            if (!signal?.aborted && !this.#isClosed) throw error;
          });
          continue;
        }
        const batch = step.kind === "events" ? step.batch : await this.#readBehind(sessionId, cursor);
        const { last } = batch;
        if (!last) {
          throw new DaemonError(
            "store_unavailable",
            `The store has lost events of session ${sessionId} after ${cursor}: it was reset to an older state.`,
          );
        }
        yield batch;
        cursor = last.seq;
        if (last.type === "session.deleted") return;
      }
    } finally {
      this.#feeds.release(feed);
    }
  }

  /** Newest first. */
  async items(sessionId: string, query?: ItemsQuery): Promise<readonly ItemRow[]> {
    return this.#history.items(sessionId, query);
  }

  async item(sessionId: string, itemId: string): Promise<ItemRow | undefined> {
    return this.#history.item(sessionId, itemId);
  }

  /** Undefined if the item does not exist, or if retention has removed its body. */
  async itemBody(sessionId: string, itemId: string, query?: ItemBodyQuery): Promise<ItemBody | undefined> {
    return this.#history.itemBody(sessionId, itemId, query);
  }

  /** Newest first. `before` is the `nextCursor` of the previous page, as a number. */
  async turns(
    sessionId: string,
    options?: { readonly before?: number; readonly limit?: number },
  ): Promise<Page<TurnRow>> {
    return this.#history.turns(sessionId, options);
  }

  /** Returns the newest event of a type, such as `plan.updated` or `diff.updated`, of one turn or of all. Deltas can't be looked up. */
  async latest<Type extends Exclude<SessionEvent["type"], "item.delta">>(
    sessionId: string,
    type: Type,
    turnId?: string,
  ): Promise<Extract<SessionEvent, { readonly type: Type }> | undefined> {
    const event = await this.#reader.latest(sessionId, type, turnId);
    return event as Extract<SessionEvent, { readonly type: Type }> | undefined;
  }

  /** Returns the items that have not ended. After a crash, the owner ends them with `item.abandoned`. */
  async runningItems(sessionId: string): Promise<readonly ItemRow[]> {
    return this.#history.runningItems(sessionId);
  }

  /** Merges and removes old events. Readers in the removed part get a gap. */
  async retain(retention: Retention): Promise<RetentionResult> {
    return this.#retainer.run(retention);
  }

  /** Stores the waiting events, and ends all readers. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    await this.#writer.close(CLOSE_MS);
    this.#isClosed = true;
    this.#rewindChecks[Symbol.dispose]();
    this.#feeds.close(new DaemonError("closed", "The database is closed."));
  }

  async #readBehind(sessionId: string, cursor: number): Promise<EventBatch> {
    // SQLite answers synchronously, and a socket with a large buffer accepts pages immediately. Without a pause, a reader that is
    // far behind would block all other readers and requests.
    await nextRound();
    const { batch, gap } = await this.#reader.page(sessionId, cursor, this.#limits.pageEvents);
    if (!gap) return batch;
    const { epoch, at } = batch.first ?? { epoch: 0, at: Date.now() };
    const { event, data } = encodeEvent({ type: "gap", ...gap, reason: "retention" });
    return batch.behind({ seq: gap.to, epoch, at, type: event.type, turn_id: null, item_id: null, data });
  }

  /** Lets an owner that has nothing to write detect a failover to a replica that lagged behind. */
  #restoreLost(): void {
    if (this.#isRestoring || this.#isClosed) return;
    this.#isRestoring = true;
    this.#writer
      .restoreLost((sessionIds) => this.#reader.lastSeqs(sessionIds))
      // The next poll retries.
      .catch(() => {})
      .finally(() => (this.#isRestoring = false));
  }
}
