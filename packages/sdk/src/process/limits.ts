/** Timeouts and buffer sizes of an owned process. */
export interface ProcessLimits {
  /** How long a process may take to exit after its stdin is closed. */
  readonly exitTimeoutMs: number;
  /** How long it may take after SIGTERM. */
  readonly terminateTimeoutMs: number;
  /** How long it may take after SIGKILL. Then `stop` stops waiting. */
  readonly killTimeoutMs: number;
  /** How long the output of an exited process may be silent before it is closed. */
  readonly outputTimeoutMs: number;
  /** Number of stderr characters kept for error messages. */
  readonly stderrTailCharacters: number;
  /** Maximum line length for `onStderr`. Longer lines are split. */
  readonly stderrLineCharacters: number;
}

export const PROCESS_LIMITS: ProcessLimits = {
  // Codex and its MCP servers exit within 0.3 s after stdin closes. The rest is for slow disks.
  exitTimeoutMs: 2_000,
  terminateTimeoutMs: 2_000,
  killTimeoutMs: 2_000,
  // A surviving descendant can hold an inherited pipe open forever. Remaining output arrives within milliseconds.
  outputTimeoutMs: 2_000,
  // Fits a Rust panic with its backtrace.
  stderrTailCharacters: 4_000,
  stderrLineCharacters: 16_384,
};

/** Limits of the orphan sweep. Short, because it delays the first turn. */
export const SWEEP_LIMITS = {
  /** How long orphans may take after SIGTERM. Codex's stdin has already closed, so it is exiting anyway. */
  terminateTimeoutMs: 500,
  /** How long they may take after SIGKILL before the sweep reports a problem. */
  killTimeoutMs: 2_000,
  /** Interval between checks. */
  pollIntervalMs: 20,
  /** A manifest has about 400 bytes. A larger file is not a manifest. */
  manifestBytes: 16_384,
  /** A temporary file older than this was left by a crashed writer. */
  staleFileMs: 60_000,
} as const;
