/** Limits of the stored rollout files. */
export interface RolloutLimits {
  /** Bytes of one file. A session with a larger one stays on its node. Default: 256 MiB. */
  readonly rolloutBytes: number;
  /** Idle time of a session after which its files are compressed, in milliseconds. Default: 600,000. */
  readonly compactAfterMs: number;
}

export const DEFAULT_ROLLOUT_LIMITS: RolloutLimits = {
  rolloutBytes: 256 * 1024 * 1024,
  compactAfterMs: 600_000,
};
