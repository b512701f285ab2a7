/** Limits for reading threads of the Codex CLI. */
export interface ThreadLimits {
  /** Maximum number of rollout files. Older ones are not listed. */
  readonly files: number;
  /** Maximum bytes of a rollout file, after decompression. */
  readonly fileBytes: number;
  /** Maximum bytes of a line. Longer lines are skipped and reported. */
  readonly lineBytes: number;
  /** Maximum number of files in the history of one thread. */
  readonly lineageFiles: number;
  /** Maximum bytes that one request searches. The next page continues after them. */
  readonly searchBytes: number;
  /** Interval between checks of a followed thread, in milliseconds. */
  readonly pollMs: number;
}

export const THREAD_LIMITS: ThreadLimits = {
  files: 100_000,
  fileBytes: 1024 * 1024 * 1024,
  lineBytes: 8 * 1024 * 1024,
  lineageFiles: 64,
  searchBytes: 64 * 1024 * 1024,
  pollMs: 250,
};
