/** Limits of the harness. */
export const harnessLimits = {
  /** Turns kept for a host that may return. The least recently suspended one beyond that is interrupted. */
  suspendedTurns: 64,
  /** Parts buffered while no host is attached. A turn with more is stopped, to bound its memory. */
  bufferedParts: 100_000,
} as const;
