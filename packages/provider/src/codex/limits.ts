/** How long things may take, and how much is kept. */
export const LIMITS = {
  /** Codex stops a turn within a second; beyond this the session ends without its word. */
  interruptMs: 10_000,
  /** Threads that are not known yet: Codex tells of a new one, and of an agent's, some milliseconds before it is. */
  orphanThreads: 1024,
  /** Events of one such thread: its set-up is a handful. */
  orphanEvents: 256,
  /** Threads that are remembered as done with: Codex says a few last words about each. */
  goneThreads: 1024,
  /** Idempotency keys that are remembered in a CODEX_HOME: a month of a busy fleet. */
  spawnKeys: 10_000,
} as const;
