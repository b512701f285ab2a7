/** Longest delay of a timer, about 25 days. Node fires a timer with a longer one immediately. */
const LONGEST_MS = 2 ** 31 - 1;

/** Limits a duration in milliseconds, including `Infinity`, to what a timer supports. */
export function timerDelay(limitMs: number): number {
  return Math.min(limitMs, LONGEST_MS);
}
