import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { StoreError, type Store } from "@codexkit/store";
import { raceAbort } from "@codexkit/rpc/async";
import type { SessionEvent } from "../api/event.ts";
import { notificationKeys } from "../database/notifications.ts";
import type { DaemonTables } from "../database/tables.ts";
import { DaemonError } from "../errors.ts";
import { commitGroups, type CommitOutcome } from "./commit.ts";
import type { JournalLimits } from "./limits.ts";
import { groupByOwner, PendingWrite, type WriteRequest } from "./write.ts";

/** Pause per time in commits, so that a slow disk never takes more than a quarter of the time of the process. */
const PAUSE_RATIO = 3;
const RETRY_MS = { first: 50, longest: 2_000 };
/** SQLSTATE of a deadlock and of a serialization failure: the transaction was rolled back and may simply run again. */
const CONFLICTS = new Set(["40P01", "40001"]);
const MAX_CONFLICTS = 5;

export interface CommittedEvents {
  readonly sessionId: string;
  readonly events: readonly SessionEvent[];
}

/**
 * Group commit: one transaction at a time, which takes along everything that is waiting. Writes of one session are stored in
 * the order in which they were added.
 */
export class JournalWriter {
  readonly #store: Store<DaemonTables>;
  readonly #limits: JournalLimits;
  readonly #onCommitted: (committed: readonly CommittedEvents[], keys: readonly string[]) => void;
  readonly #closing = new AbortController();
  #waiting: PendingWrite[] = [];
  #waitingBytes = 0;
  #unstoredBytes = 0;
  #hasUrgent = false;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #flushing: Promise<void> | undefined;
  /** From when on a write that can wait is stored. */
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
  }

  get unstoredBytes(): number {
    return this.#unstoredBytes;
  }

  async write(request: WriteRequest): Promise<readonly SessionEvent[]> {
    if (this.#closing.signal.aborted) throw closed();
    const write = new PendingWrite(request);
    this.#waiting.push(write);
    this.#waitingBytes += write.bytes;
    this.#unstoredBytes += write.bytes;
    this.#hasUrgent ||= write.isUrgent;
    this.#schedule();
    return write.stored;
  }

  async waitForCapacity(signal?: AbortSignal): Promise<void> {
    while (this.#unstoredBytes > this.#limits.maxUnstoredBytes) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#capacityWaiters.push(resolve);
      await raceAbort(promise, signal);
    }
  }

  /** Stores what is waiting, for at most `timeoutMs`. Everything else is rejected. */
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
    for (const write of this.#waiting.splice(0)) write.reject(closed());
    this.#release(this.#unstoredBytes);
  }

  #schedule(): void {
    if (this.#flushing || this.#immediate || this.#waiting.length === 0) return;
    const dueIn = this.#dueAt - performance.now();
    const isDue = this.#hasUrgent || this.#waitingBytes >= this.#limits.flushBytes || dueIn <= 0;
    if (isDue) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      // After the other events of this round of the event loop.
      this.#immediate = setImmediate(() => this.#flush());
    } else {
      this.#timer ??= setTimeout(() => {
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
      this.#dueAt = performance.now() + this.#pauseAfter(performance.now() - begin);
      this.#release(writes.reduce((sum, { bytes }) => sum + bytes, 0));
    } while (
      !this.#closing.signal.aborted &&
      (this.#hasUrgent || this.#waitingBytes >= this.#limits.flushBytes)
    );
  }

  #pauseAfter(commitMs: number): number {
    const { flushMs, maxFlushMs } = this.#limits;
    return Math.max(flushMs - commitMs, Math.min(commitMs * PAUSE_RATIO, maxFlushMs));
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
    this.#waitingBytes -= bytes;
    this.#hasUrgent = this.#waiting.some(({ isUrgent }) => isUrgent);
    return batch;
  }

  async #storeBatch(writes: readonly PendingWrite[]): Promise<void> {
    if (writes.length === 0) return;
    try {
      this.#settle(writes, await this.#commit(writes));
    } catch (error) {
      if (writes.length === 1 || StoreError.is(error) || this.#closing.signal.aborted) {
        for (const write of writes) write.reject(error);
        return;
      }
      // One of them is at fault, and must not take the others along.
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
          outcome = await commitGroups(this.#store, trx, groups, appendId);
          return outcome;
        });
      } catch (error) {
        if (isConflict(error) && (conflicts += 1) <= MAX_CONFLICTS) continue;
        if (!isTemporary(error) || performance.now() > until) throw error;
        await delay(waitMs, undefined, { signal: this.#closing.signal }).catch(() => {
          throw closed();
        });
        // The connection broke after the last statement: the commit may have succeeded.
        if (outcome && (await this.#wasCommitted(outcome, appendId))) return outcome;
      }
    }
  }

  async #wasCommitted(outcome: CommitOutcome, appendId: string): Promise<boolean> {
    const passed = [...outcome.stored].find(([, events]) => events !== undefined);
    if (!passed) return true;
    for (;;) {
      try {
        const row = await this.#store.db
          .selectFrom("session")
          .select("append_id")
          .where("id", "=", passed[0].request.owner.sessionId)
          .executeTakeFirst();
        return row?.append_id === appendId;
      } catch (error) {
        if (!isTemporary(error)) throw error;
        await delay(RETRY_MS.longest, undefined, { signal: this.#closing.signal }).catch(() => {
          throw closed();
        });
      }
    }
  }

  #settle(writes: readonly PendingWrite[], outcome: CommitOutcome): void {
    const bySession = new Map<string, SessionEvent[]>();
    const keys: string[] = outcome.hasSessionChanges ? [notificationKeys.sessions] : [];
    for (const write of writes) {
      const events = outcome.stored.get(write);
      if (!events) continue;
      const { sessionId } = write.request.owner;
      const all = bySession.get(sessionId) ?? [];
      for (const event of events) all.push(event);
      bySession.set(sessionId, all);
      keys.push(...(write.request.notify ?? []));
    }
    const committed = [...bySession].map(([sessionId, events]) => ({ sessionId, events }));
    this.#onCommitted(committed, keys);
    for (const write of writes) {
      const events = outcome.stored.get(write);
      if (events) write.resolve(events);
      else write.reject(fenced(write.request.owner.sessionId));
    }
  }

  #release(bytes: number): void {
    this.#unstoredBytes -= bytes;
    for (const resolve of this.#capacityWaiters.splice(0)) resolve();
  }
}

function isTemporary(error: unknown): boolean {
  return StoreError.is(error) && (error.code === "store_unavailable" || error.code === "store_full");
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
