/** Limits of the stored rollout files. */
export interface RolloutLimits {
  /** Maximum size of one file, in bytes. A session with a larger file can't move to another node. Default: 256 MiB. */
  readonly rolloutBytes: number;
  /** Time in milliseconds after which the files of an idle session are compressed. Default: 600,000. */
  readonly compactAfterMs: number;
}

export const DEFAULT_ROLLOUT_LIMITS: RolloutLimits = {
  rolloutBytes: 256 * 1024 * 1024,
  compactAfterMs: 600_000,
};
