import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { StoreError, type Store } from "@codexkit/store";
import { raceAbort } from "@codexkit/rpc/async";
import type { SessionEvent } from "../api/event.ts";
import { notificationKeys } from "../database/notifications.ts";
import type { DaemonTables } from "../database/tables.ts";
import { isOutage } from "../database/outage.ts";
import { DaemonError } from "../errors.ts";
import { commitGroups, type CommitOutcome, type StoredGroup } from "./commit.ts";
import { EventBatch } from "./event-batch.ts";
import { type EncodedEvent, toEvent } from "./event-row.ts";
import { CommitPauses, type JournalLimits } from "./limits.ts";
import { RecentWrites } from "./recent-writes.ts";
import { groupByOwner, PendingWrite, type WriteListener, type WriteRequest } from "./write.ts";

const RETRY_MS = { first: 50, longest: 2_000 };
/** SQLSTATE of a deadlock and of a serialization failure. The transaction was rolled back and can be retried. */
const CONFLICTS = new Set(["40P01", "40001"]);
const MAX_CONFLICTS = 5;

export interface CommittedEvents {
  readonly sessionId: string;
  readonly events: EventBatch;
}

/**
 * Group commit: one transaction at a time stores all waiting writes. Writes of one session are stored in the order in which they
 * were added.
 */
export class JournalWriter {
  readonly #store: Store<DaemonTables>;
  readonly #limits: JournalLimits;
  readonly #onCommitted: (committed: readonly CommittedEvents[], keys: readonly string[]) => void;
  readonly #closing = new AbortController();
  /** Undefined for SQLite, which has no replica. */
  readonly #recent: RecentWrites | undefined;
  #waiting: PendingWrite[] = [];
  /** By session: the waiting write to which further events of its owner are added. */
  readonly #open = new Map<string, PendingWrite>();
  #waitingBytes = 0;
  #unstoredBytes = 0;
  #hasUrgent = false;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #flushing: Promise<void> | undefined;
  readonly #pauses: CommitPauses;
  /** When writes that can wait are stored. */
  #dueAt = Number.NEGATIVE_INFINITY;
  readonly #capacityWaiters: (() => void)[] = [];

  constructor(
    store: Store<DaemonTables>,
    limits: JournalLimits,
    onCommitted: (committed: readonly CommittedEvents[], keys: readonly string[]) => void,
  ) {
    this.#store = store;
    this.#limits = limits;
    this.#onCommitted = onCommitted;
    this.#pauses = new CommitPauses(limits, store.kind);
    this.#recent = store.kind === "postgres" ? new RecentWrites(limits) : undefined;
  }

  get unstoredBytes(): number {
    return this.#unstoredBytes;
  }

  async write(request: WriteRequest): Promise<readonly SessionEvent[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly SessionEvent[]>();
    this.#add(request, { onStored: resolve, onError: reject });
    return promise;
  }

  /** Like `write`, for callers that don't wait. Everything that an owner adds before the next commit becomes one write. */
  enqueue(request: WriteRequest, onError: (error: unknown) => void): void {
    const { owner, events = [], also } = request;
    const open = this.#open.get(owner.sessionId);
    if (also || open?.request.owner !== owner || open.bytes >= this.#limits.flushBytes) {
      const write = this.#add(request, { onError });
      if (write && !also) this.#open.set(owner.sessionId, write);
      return;
    }
    const before = open.bytes;
    open.add(events);
    this.#hasAdded(open, open.bytes - before);
  }

  #add(request: WriteRequest, listener: WriteListener): PendingWrite | undefined {
    if (this.#closing.signal.aborted) {
      listener.onError(closed());
      return undefined;
    }
    const write = new PendingWrite(request, listener);
    // Later events must not be stored before this write.
    this.#open.delete(request.owner.sessionId);
    this.#waiting.push(write);
    this.#hasAdded(write, write.bytes);
    return write;
  }

  #hasAdded(write: PendingWrite, bytes: number): void {
    this.#waitingBytes += bytes;
    this.#unstoredBytes += bytes;
    this.#hasUrgent ||= write.isUrgent;
    this.#schedule();
  }

  /** Checks whether the store was reset to an older state, and stores what it has lost. */
  async restoreLost(
    lastSeqs: (sessionIds: readonly string[]) => Promise<ReadonlyMap<string, number>>,
  ): Promise<void> {
    const known = this.#recent?.owners() ?? [];
    const stored = await lastSeqs(known.map(({ owner }) => owner.sessionId));
    const behind = known.filter(({ owner, lastSeq }) => (stored.get(owner.sessionId) ?? lastSeq) < lastSeq);
    // An empty write is enough, because every write of an owner first restores what is missing before it.
    await Promise.all(behind.map(({ owner }) => this.write({ owner }).catch(() => {})));
  }

  get hasCapacity(): boolean {
    return this.#unstoredBytes <= this.#limits.maxUnstoredBytes;
  }

  async waitForCapacity(signal?: AbortSignal): Promise<void> {
    while (!this.hasCapacity) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#capacityWaiters.push(resolve);
      await raceAbort(promise, signal);
    }
  }

  /** Stores waiting writes for at most `timeoutMs`. The rest is rejected. */
  async close(timeoutMs: number): Promise<void> {
    if (!this.#flushing && this.#waiting.length > 0) this.#flush();
    const timeout = new AbortController();
    await Promise.race([
      this.#flushing,
      delay(timeoutMs, undefined, { signal: timeout.signal }).catch(() => {}),
    ]);
    timeout.abort();
    this.#closing.abort(closed());
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
    await this.#flushing;
    this.#open.clear();
    for (const { listener } of this.#waiting.splice(0)) listener.onError(closed());
    this.#release(this.#unstoredBytes);
  }

  #schedule(): void {
    if (this.#flushing || this.#immediate || this.#waiting.length === 0) return;
    const isLarge = this.#waitingBytes >= this.#limits.flushBytes;
    if (this.#timer && !this.#hasUrgent && !isLarge) return;
    const dueIn = this.#dueAt - performance.now();
    if (this.#hasUrgent || isLarge || dueIn <= 0) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      // After the other callbacks of this event-loop turn, which may add writes.
      this.#immediate = setImmediate(() => this.#flush());
    } else {
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.#flush();
      }, dueIn);
    }
  }

  #flush(): void {
    clearImmediate(this.#immediate);
    this.#immediate = undefined;
    if (this.#flushing) return;
    this.#flushing = this.#flushWaiting().finally(() => {
      this.#flushing = undefined;
      this.#schedule();
    });
  }

  async #flushWaiting(): Promise<void> {
    do {
      const writes = this.#takeBatch();
      const begin = performance.now();
      await this.#storeBatch(writes);
      this.#dueAt = performance.now() + this.#pauses.after(performance.now() - begin);
      this.#release(writes.reduce((sum, { bytes }) => sum + bytes, 0));
    } while (
      !this.#closing.signal.aborted &&
      (this.#hasUrgent || this.#waitingBytes >= this.#limits.flushBytes)
    );
  }

  #takeBatch(): PendingWrite[] {
    let bytes = 0;
    let count = 0;
    for (const write of this.#waiting) {
      if (count > 0 && bytes + write.bytes > this.#limits.transactionBytes) break;
      bytes += write.bytes;
      count += 1;
    }
    const batch = this.#waiting.slice(0, count);
    this.#waiting = this.#waiting.slice(count);
    this.#open.clear();
    this.#waitingBytes -= bytes;
    this.#hasUrgent = this.#waiting.some(({ isUrgent }) => isUrgent);
    return batch;
  }

  async #storeBatch(writes: readonly PendingWrite[]): Promise<void> {
    if (writes.length === 0) return;
    try {
      this.#settle(await this.#commit(writes));
    } catch (error) {
      if (writes.length === 1 || StoreError.is(error) || this.#closing.signal.aborted) {
        for (const { listener } of writes) listener.onError(error);
        return;
      }
      // One write has caused the error. The others must not fail with it.
      for (const write of writes) await this.#storeBatch([write]);
    }
  }

  async #commit(writes: readonly PendingWrite[]): Promise<CommitOutcome> {
    const groups = groupByOwner(writes);
    const until = performance.now() + this.#limits.retryMs;
    let conflicts = 0;
    for (let waitMs = RETRY_MS.first; ; waitMs = Math.min(waitMs * 2, RETRY_MS.longest)) {
      const appendId = randomUUID();
      let outcome: CommitOutcome | undefined;
      try {
        return await this.#store.db.transaction().execute(async (trx) => {
          outcome = undefined;
          outcome = await commitGroups(this.#store, trx, groups, appendId, this.#recent);
          return outcome;
        });
      } catch (error) {
        if (isConflict(error) && (conflicts += 1) <= MAX_CONFLICTS) continue;
        if (!isOutage(error) || performance.now() > until) throw error;
        await delay(waitMs, undefined, { signal: this.#closing.signal }).catch(() => {
          throw closed();
        });
        // If the connection broke after the last statement, the commit may have succeeded.
        if (outcome && (await this.#wasCommitted(outcome, appendId))) return outcome;
      }
    }
  }

  async #wasCommitted(outcome: CommitOutcome, appendId: string): Promise<boolean> {
    const passed = outcome.groups.filter(({ rows }) => rows !== undefined);
    if (passed.length === 0) return true;
    for (;;) {
      try {
        // One session is enough. The others may have new owners, which have written since.
        const row = await this.#store.db
          .selectFrom("session")
          .select("id")
          .where(
            "id",
            "in",
            passed.map(({ owner }) => owner.sessionId),
          )
          .where("append_id", "=", appendId)
          .executeTakeFirst();
        return row !== undefined;
      } catch (error) {
        if (!isOutage(error)) throw error;
        await delay(RETRY_MS.longest, undefined, { signal: this.#closing.signal }).catch(() => {
          throw closed();
        });
      }
    }
  }

  #settle({ groups, hasSessionChanges, hasNotices, restored }: CommitOutcome): void {
    const committed: CommittedEvents[] = [];
    const keys: string[] = hasSessionChanges ? [notificationKeys.sessions] : [];
    if (hasNotices) keys.push(notificationKeys.webhooks);
    for (const sessionId of restored) keys.push(notificationKeys.journal(sessionId));
    for (const { owner, writes, rows } of groups) {
      if (!rows) {
        this.#recent?.forget(owner);
        continue;
      }
      this.#recent?.add({ owner, writes, rows });
      committed.push({ sessionId: owner.sessionId, events: new EventBatch(rows) });
      for (const { request } of writes) if (request.notify) keys.push(...request.notify);
    }
    this.#onCommitted(committed, keys);
    for (const group of groups) settleGroup(group);
  }

  #release(bytes: number): void {
    this.#unstoredBytes -= bytes;
    for (const resolve of this.#capacityWaiters.splice(0)) resolve();
  }
}

function settleGroup({ owner, writes, rows }: StoredGroup): void {
  let begin = 0;
  for (const { listener, events } of writes) {
    const own = rows?.slice(begin, begin + events.length);
    begin += events.length;
    if (!own) listener.onError(fenced(owner.sessionId));
    else listener.onStored?.(own.map((row, index) => toEvent(events[index] as EncodedEvent, row)));
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof Error && CONFLICTS.has((error as { code?: string }).code ?? "");
}

function closed(): DaemonError {
  return new DaemonError("closed", "The database is closed.");
}

function fenced(sessionId: string): DaemonError {
  return new DaemonError("fenced", `Session ${sessionId} has another owner. Stop working on it.`);
}
