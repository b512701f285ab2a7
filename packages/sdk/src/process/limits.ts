/** Every wait and buffer around an owned process, in one place. */
export interface ProcessLimits {
  /** How long a process may take to leave by itself after its stdin closed. */
  readonly leaveMs: number;
  /** How long it may take after SIGTERM. */
  readonly terminateMs: number;
  /** How long the kernel may take to end it after SIGKILL; then `stop` gives up waiting. */
  readonly killMs: number;
  /** How long the output of a process that is gone may stay silent before it counts as over. */
  readonly lastOutputMs: number;
  /** How much of stderr is kept for error messages. */
  readonly stderrTailCharacters: number;
  /** The longest line that `onStderr` gets; a longer one comes in pieces. */
  readonly stderrLineCharacters: number;
}

export const PROCESS_LIMITS: ProcessLimits = {
  // Codex leaves within 0.3 s of the end of its stdin, MCP servers included; slow disks get room.
  leaveMs: 2_000,
  terminateMs: 2_000,
  killMs: 2_000,
  // Someone who inherited the pipe and escaped may hold it open for ever. The last words come within milliseconds.
  lastOutputMs: 2_000,
  // A Rust panic with its backtrace, and the line before it.
  stderrTailCharacters: 4_000,
  stderrLineCharacters: 16_384,
};

/** The bounds of a sweep: it stands between a program and its first turn, so all of it is short. */
export const SWEEP_LIMITS = {
  /** How long orphans get after SIGTERM. Codex has had its end of input already, and was leaving. */
  terminateMs: 500,
  /** How long they get after SIGKILL before the sweep reports them as left. */
  killMs: 2_000,
  /** How often it looks whether they are gone. */
  pollMs: 20,
  /** A manifest is 400 bytes; what is larger is not one. */
  manifestBytes: 16_384,
  /** A half-written file older than this was left by a writer that died. */
  unfinishedMs: 60_000,
} as const;
