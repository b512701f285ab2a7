/** Limits of this package. */
export const SCRIPTED_MODEL_LIMITS = {
  /** Codex sends the whole history, including images, with every request. This is far above any test's. */
  requestBytes: 32 * 1024 * 1024,
  /** Requests kept for assertions. A benchmark of thousands of turns must not fill the memory. */
  recordedRequests: 1_000,
  /**
   * Bytes of their bodies. Each request contains the whole history of its thread, so a few requests of a long thread fill the
   * memory. Parsed, they take up to twice as many bytes.
   */
  recordedBytes: 64 * 1024 * 1024,
  /** Failures of the script kept for assertions. */
  recordedProblems: 100,
  /** Default timeout of a wait for a request. Longer than a cold start on a slow machine. */
  waitTimeoutMs: 20_000,
  /** SSE text buffered per write: few writes for thousands of deltas, and little memory per stream. */
  writeCharacters: 64 * 1024,
  /**
   * How long a generated code cell may run before Codex returns control to the model. With Codex's default of 30 s, a cell that
   * waits for an approval would be returned unfinished.
   */
  cellYieldMs: 3_600_000,
} as const;
