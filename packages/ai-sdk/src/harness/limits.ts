/** Limits of the harness. */
export const harnessLimits = {
  /** Suspended turns kept for hosts that may return. Beyond that, the least recently suspended one is interrupted. */
  suspendedTurns: 64,
  /** Parts buffered while no host is attached. A turn that exceeds this is stopped, to limit memory use. */
  bufferedParts: 100_000,
} as const;
