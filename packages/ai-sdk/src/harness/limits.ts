/** The bounds of the harness. */
export const harnessLimits = {
  /** Turns that run or wait while no host looks: one that is never gone on with must not be kept for ever. */
  suspendedTurns: 64,
  /** What such a turn may say meanwhile: beyond that it is stopped, since it would fill the memory. */
  unseenParts: 100_000,
} as const;
