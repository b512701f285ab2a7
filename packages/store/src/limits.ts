/** Limits of a store. Times are in milliseconds. */
export interface StoreLimits {
  /**
   * Pooled connections to Postgres. Connections for notifications, locks and `dedicated` come on top.
   * Default: 10.
   */
  readonly connections: number;
  /** Timeout for connecting to Postgres or waiting for a free connection. Default: 5,000. */
  readonly connectMs: number;
  /** Timeout for one statement. Default: 30,000. */
  readonly statementMs: number;
  /**
   * Grace period after `statementMs`. If Postgres has not ended a query by then, the query is abandoned and
   * its connection closed. Default: 5,000.
   */
  readonly unansweredMs: number;
  /**
   * Timeout for a connection health check. After a connection is lost, every other connection must pass one
   * before it is used again. Also the timeout for queries on the connections for notifications and locks.
   * Default: 3,000.
   */
  readonly checkMs: number;
  /** Interval between health checks of the connections for notifications and locks. Default: 10,000. */
  readonly probeMs: number;
  /**
   * Idle time after which TCP checks whether the other side still exists, both here and in Postgres. Default:
   * 10,000.
   */
  readonly keepAliveMs: number;
  /**
   * Timeout for migrations, including waits for other processes that migrate or that use the affected tables.
   * Default: 600,000.
   */
  readonly migrateMs: number;
  /**
   * Timeout for acquiring a lock in Postgres, or for waiting for another process in SQLite. Default: 10,000.
   */
  readonly lockMs: number;
  /** Poll interval while notifications arrive. Default: 1,000. */
  readonly pollMs: number;
  /** Poll interval while notifications don't arrive. Default: 200. */
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
