/** Limits of what is read from the Codex home of the person. */
export interface ThreadLimits {
  /** Rollout files that are looked at. Older ones are not listed. */
  readonly files: number;
  /** Largest rollout file that is read, after decompression. */
  readonly fileBytes: number;
  /** Longest line. Longer ones are skipped and reported. */
  readonly lineBytes: number;
  /** Files that the history of one thread may consist of. */
  readonly lineageFiles: number;
  /** Bytes that one request searches. The next page goes on behind them. */
  readonly searchBytes: number;
  /** How often a followed thread is looked at, in milliseconds. */
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
