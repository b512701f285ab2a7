import type { StoreKind } from "@codexkit/store";

/** Limits of the journal. Times are milliseconds, sizes are bytes of JSON. */
export interface JournalLimits {
  /** How long events wait for others to share a commit with. Longer if commits are slow: see `maxFlushMs`. Default: 20. */
  readonly flushMs: number;
  /**
   * Longest pause between two commits. Up to this limit, the pause is as long as the usual commit on Postgres, and three times as long
   * on SQLite. Default: 200.
   */
  readonly maxFlushMs: number;
  /** Waiting bytes above which events are stored immediately. Default: 256 KiB. */
  readonly flushBytes: number;
  /** Maximum bytes per transaction. Default: 4 MiB. */
  readonly transactionBytes: number;
  /** Unstored bytes above which `waitForCapacity` waits. Default: 8 MiB. */
  readonly maxUnstoredBytes: number;
  /** How long an append is retried while the store is full or can't be reached. Default: 600,000. */
  readonly retryMs: number;
  /** Bytes of the newest events that are kept in memory for the readers of a session. Default: 256 KiB. */
  readonly tailBytes: number;
  /** Maximum events per page that a reader gets from the store. Default: 1,000. */
  readonly pageEvents: number;
  /** Maximum bytes per page. A page has at least one event. Default: 4 MiB. */
  readonly pageBytes: number;
  /**
   * Postgres only: how long stored events stay in memory, in case a failover to a replica that lagged behind loses them. Default:
   * 30,000.
   */
  readonly rewindMs: number;
  /** Maximum bytes of these events, over all sessions. Default: 8 MiB. */
  readonly rewindBytes: number;
  /** How long readers of lost events wait for the owner to store them again. Default: 5,000. */
  readonly rewindGraceMs: number;
}

export const DEFAULT_JOURNAL_LIMITS: JournalLimits = {
  flushMs: 20,
  maxFlushMs: 200,
  flushBytes: 256 * 1024,
  transactionBytes: 4 * 1024 * 1024,
  maxUnstoredBytes: 8 * 1024 * 1024,
  retryMs: 600_000,
  tailBytes: 256 * 1024,
  pageEvents: 1_000,
  pageBytes: 4 * 1024 * 1024,
  rewindMs: 30_000,
  rewindBytes: 8 * 1024 * 1024,
  rewindGraceMs: 5_000,
};

/**
 * Ratio of pauses to commits. A commit of SQLite blocks the process, so a slow disk must not take more than a quarter of its time.
 * During a commit of Postgres, the process continues.
 */
const PAUSE_RATIOS = { sqlite: 3, postgres: 1 } as const;
/** Number of commits whose fastest one tells how fast the store is. A single slow commit says little. */
const SAMPLES = 3;

/** The pauses between commits: how long events wait for others. */
export class CommitPauses {
  readonly #limits: Pick<JournalLimits, "flushMs" | "maxFlushMs">;
  readonly #ratio: number;
  readonly #recent: number[] = [];

  constructor(limits: Pick<JournalLimits, "flushMs" | "maxFlushMs">, kind: StoreKind) {
    this.#limits = limits;
    this.#ratio = PAUSE_RATIOS[kind];
  }

  /** Returns the pause after a commit that took `commitMs`. */
  after(commitMs: number): number {
    this.#recent.push(commitMs);
    if (this.#recent.length > SAMPLES) this.#recent.shift();
    const { flushMs, maxFlushMs } = this.#limits;
    return Math.max(flushMs - commitMs, Math.min(Math.min(...this.#recent) * this.#ratio, maxFlushMs));
  }
}
