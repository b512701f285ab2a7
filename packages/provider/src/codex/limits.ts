/** How long things may take, and how much is kept. */
export const LIMITS = {
  /** Codex stops a turn within a second; beyond this the session ends without its word. */
  interruptMs: 10_000,
  /** Threads whose parent is not known yet. Codex tells of a child some milliseconds before it tells whose it is. */
  orphanThreads: 64,
  /** Events of one such thread: its set-up is a handful. */
  orphanEvents: 256,
  /** Threads that are remembered as done with: Codex says a few last words about each. */
  goneThreads: 1024,
} as const;
