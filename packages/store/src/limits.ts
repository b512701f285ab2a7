/** Limits of a store. Times are milliseconds. */
export interface StoreLimits {
  /** Connections to Postgres, not counting those for notifications, for locks and of `dedicated`. Default: 10. */
  readonly connections: number;
  /** Establishing a connection to Postgres, or waiting for a free one. Default: 5,000. */
  readonly connectMs: number;
  /** One statement. Default: 30,000. */
  readonly statementMs: number;
  /** Beyond `statementMs`: a query that Postgres did not end by then is given up, and its connection with it. Default: 5,000. */
  readonly unansweredMs: number;
  /**
   * A check whether a connection still works, which every connection has to pass after one of them was lost. Also every query of
   * the connections for notifications and locks. Default: 3,000.
   */
  readonly checkMs: number;
  /** Between checks of the connections for notifications and locks. Default: 10,000. */
  readonly probeMs: number;
  /** TCP looks after an idle time of this length whether the other side still exists, here and in Postgres. Default: 10,000. */
  readonly keepAliveMs: number;
  /** Migrations, and waiting for those of other processes and for the tables that they change. Default: 600,000. */
  readonly migrateMs: number;
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
  unansweredMs: 5_000,
  checkMs: 3_000,
  probeMs: 10_000,
  keepAliveMs: 10_000,
  migrateMs: 600_000,
  lockMs: 10_000,
  pollMs: 1_000,
  fastPollMs: 200,
};
