/** Limits of this package. */
export const SCRIPTED_MODEL_LIMITS = {
  /** Maximum size of a request. Far above any test's needs, although Codex sends the whole history with every request. */
  requestBytes: 32 * 1024 * 1024,
  /** Number of requests kept for assertions. Limited so that a benchmark with thousands of turns does not fill the memory. */
  recordedRequests: 1_000,
  /**
   * Total size of the kept bodies. Each request contains its thread's whole history, so a few requests of a long thread could fill
   * the memory. Once parsed, they take up to twice as many bytes.
   */
  recordedBytes: 64 * 1024 * 1024,
  /** Number of script failures kept for assertions. */
  recordedProblems: 100,
  /** Default timeout of a wait for a request. Longer than a cold start on a slow machine. */
  waitTimeoutMs: 20_000,
  /** SSE text buffered per write. Needs few writes for thousands of deltas, and little memory per stream. */
  writeCharacters: 64 * 1024,
  /**
   * How long a generated code cell may run before Codex returns control to the model. With Codex's default of 30 s, Codex would
   * return a cell that waits for an approval unfinished.
   */
  cellYieldMs: 3_600_000,
} as const;
