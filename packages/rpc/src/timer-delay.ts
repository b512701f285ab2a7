/** The longest delay of a timer, about 25 days: Node fires one above it at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** A limit in milliseconds, `Infinity` included, as a delay that a timer keeps. */
export function timerDelay(limitMs: number): number {
  return Math.min(limitMs, LONGEST_MS);
}
