/** Limits of a store. Times are milliseconds. */
export interface StoreLimits {
  /** Connections to Postgres, not counting the one that listens for notifications. Default: 10. */
  readonly connections: number;
  /** Establishing a connection to Postgres, or waiting for a free one. Default: 5,000. */
  readonly connectMs: number;
  /** One statement. Default: 30,000. */
  readonly statementMs: number;
  /** Waiting for a lock in Postgres or for another process in SQLite. Default: 10,000. */
  readonly lockMs: number;
  /** Between polls while notifications arrive. Default: 1,000. */
  readonly pollMs: number;
  /** Between polls while notifications don't arrive. Default: 200. */
  readonly fastPollMs: number;
}

export const DEFAULT_STORE_LIMITS: StoreLimits = {
  connections: 10,
  connectMs: 5_000,
  statementMs: 30_000,
  lockMs: 10_000,
  pollMs: 1_000,
  fastPollMs: 200,
};
