import { BoundedMap } from "@codexkit/rpc/async";
import type { Ownership } from "../database/ownership.ts";
import type { EventRow } from "../database/tables.ts";
import type { JournalLimits } from "./limits.ts";
import type { PendingWrite } from "./write.ts";

/** Sessions whose newest sequence number is remembered. */
const MAX_SESSIONS = 10_000;
/** Rough size of a row without its JSON. */
const ROW_BYTES = 200;

/** Writes of one owner that were stored in one transaction. */
export interface RecentCommit {
  readonly owner: Ownership;
  readonly writes: readonly PendingWrite[];
  readonly rows: readonly EventRow[];
}

/** Writes of one session that a store has lost because it was reset to an older state. */
export interface LostWrites {
  /** The newest acknowledged sequence number. */
  readonly lastSeq: number;
  /** The lost commits that are still in memory, oldest first. */
  readonly commits: readonly RecentCommit[];
}

interface KeptCommit extends RecentCommit {
  readonly bytes: number;
  readonly keptUntil: number;
}

/**
 * Keeps the newest acknowledged writes of this process, to store them again after a failover to a replica that lagged behind.
 * Bounded by time and size.
 */
export class RecentWrites {
  readonly #limits: Pick<JournalLimits, "rewindMs" | "rewindBytes">;
  readonly #lastSeqs = new BoundedMap<string, { readonly owner: Ownership; readonly lastSeq: number }>(
    MAX_SESSIONS,
  );
  readonly #commits = new Set<KeptCommit>();
  #bytes = 0;

  constructor(limits: Pick<JournalLimits, "rewindMs" | "rewindBytes">) {
    this.#limits = limits;
  }

  add({ owner, writes, rows }: RecentCommit): void {
    const last = rows.at(-1);
    if (!last) return;
    this.#lastSeqs.set(owner.sessionId, { owner, lastSeq: last.seq });
    const bytes = rows.reduce((sum, { data }) => sum + data.length + ROW_BYTES, 0);
    const keptUntil = performance.now() + this.#limits.rewindMs;
    this.#commits.add({ owner, writes, rows, bytes, keptUntil });
    this.#bytes += bytes;
    this.#removeOld();
  }

  /** Returns the writes that the store has lost. Undefined if nothing is missing. */
  lostAfter(lastSeq: number, owner: Ownership): LostWrites | undefined {
    const known = this.#lastSeqs.get(owner.sessionId);
    if (!known || !isSameOwner(known.owner, owner) || known.lastSeq <= lastSeq) return undefined;
    this.#removeOld();
    const commits = [...this.#commits].filter(
      (commit) => isSameOwner(commit.owner, owner) && (commit.rows.at(-1)?.seq ?? 0) > lastSeq,
    );
    return { lastSeq: known.lastSeq, commits };
  }

  /** Returns the owners with writes that could be stored again, and their newest acknowledged sequence numbers. */
  owners(): readonly { readonly owner: Ownership; readonly lastSeq: number }[] {
    this.#removeOld();
    const sessionIds = new Set([...this.#commits].map(({ owner }) => owner.sessionId));
    return [...sessionIds].flatMap((sessionId) => this.#lastSeqs.get(sessionId) ?? []);
  }

  /** Forgets the writes of an owner, because the session has another one. */
  forget(owner: Ownership): void {
    const known = this.#lastSeqs.get(owner.sessionId);
    if (known && isSameOwner(known.owner, owner)) this.#lastSeqs.delete(owner.sessionId);
    for (const commit of this.#commits) if (isSameOwner(commit.owner, owner)) this.#remove(commit);
  }

  #removeOld(): void {
    const now = performance.now();
    for (const commit of this.#commits) {
      if (commit.keptUntil > now && this.#bytes <= this.#limits.rewindBytes) return;
      this.#remove(commit);
    }
  }

  #remove(commit: KeptCommit): void {
    this.#commits.delete(commit);
    this.#bytes -= commit.bytes;
  }
}

function isSameOwner(a: Ownership, b: Ownership): boolean {
  return a.sessionId === b.sessionId && a.nodeId === b.nodeId && a.epoch === b.epoch;
}
