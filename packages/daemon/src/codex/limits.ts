/** Limits for app-servers and their sessions. Times are in milliseconds. */
export interface RunnerLimits {
  /**
   * How long an app-server keeps running without its daemon, so that the next start of the daemon can attach to it. With
   * Postgres, at most until shortly before the daemon's lease ends. Default: 120,000.
   */
  readonly appServerGraceMs: number;
  /** Time after which an app-server without sessions is ended. Default: 300,000. */
  readonly appServerIdleMs: number;
  /** Interval of the health checks of an app-server. Default: 10,000. */
  readonly healthCheckMs: number;
  /** An app-server that answers no health check for this long is killed. Default: 60,000. */
  readonly notRespondingMs: number;
  /** Timeout of one call to Codex. Default: 30,000. */
  readonly callMs: number;
  /** Time after which a session without a turn and without commands is released. Default: 600,000. */
  readonly sessionIdleMs: number;
  /** Interval between attempts to claim sessions, if no notification arrives. Default: 1,000. */
  readonly claimMs: number;
  /** How long an interrupted turn may take to end, when a session is deleted or the daemon drains. Default: 5,000. */
  readonly interruptMs: number;
  /**
   * Interval between attempts to load a thread that another program has open or that failed to load. Default: 2,000.
   */
  readonly retryMs: number;
  /**
   * How long to wait for a thread that another process has open, such as an app-server of an earlier boot that is
   * shutting down. Default: 10,000.
   */
  readonly threadLockMs: number;
  /** Number of attempts to load a thread before its commands fail. Default: 5. */
  readonly loadAttempts: number;
  /**
   * Minimum available memory in bytes. Below it, requests that wait for an answer are parked: their threads are
   * unloaded until they are answered. Default: 128 MiB.
   */
  readonly minAvailableMemory: number;
  /** Interval between checks of the available memory. Default: 10,000. */
  readonly memoryCheckMs: number;
  /** Time after which an unanswered approval expires. Default: never. */
  readonly approvalMs: number;
  /**
   * Validity of the tokens that are signed for the exec-server of a session. A turn that takes longer can't reconnect
   * to it. Default: 86,400,000.
   */
  readonly environmentTokenMs: number;
}

export const RUNNER_LIMITS: RunnerLimits = {
  appServerGraceMs: 120_000,
  appServerIdleMs: 300_000,
  healthCheckMs: 10_000,
  notRespondingMs: 60_000,
  callMs: 30_000,
  sessionIdleMs: 600_000,
  claimMs: 1_000,
  interruptMs: 5_000,
  retryMs: 2_000,
  threadLockMs: 10_000,
  loadAttempts: 5,
  minAvailableMemory: 128 * 1024 * 1024,
  memoryCheckMs: 10_000,
  approvalMs: Number.POSITIVE_INFINITY,
  environmentTokenMs: 86_400_000,
};
