/** Every number that bounds this package, with its reason. */
export const limits = {
  /** Codex sends the whole history, pictures included, with every request; this is far above any test's. */
  requestBytes: 32 * 1024 * 1024,
  /** Requests kept for assertions; a benchmark of many thousand turns must not fill the memory. */
  recordedRequests: 1_000,
  /** Failures of the script kept for assertions. */
  recordedProblems: 100,
  /** How long a wait for a request lasts unless told otherwise: longer than a slow machine's cold start. */
  waitMs: 20_000,
  /** SSE text gathered before one write: a few writes for thousands of deltas, little memory a stream. */
  writeChars: 64 * 1024,
  /**
   * How long one generated code-mode cell may run before Codex takes the turn back to the model. Codex's own
   * 30 s would hand an unfinished cell back while a person still thinks about an approval.
   */
  cellYieldMs: 3_600_000,
} as const;
