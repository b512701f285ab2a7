const FIRST_DELAY_MS = 20;
const LONGEST_DELAY_MS = 2_000;

/**
 * How long to wait before attempt `attempt` (from 1) after an overload. Doubles up to a ceiling; a random share of it is
 * taken off, between none and half, so that callers refused together do not come back together.
 */
export function overloadDelayMs(attempt: number, random: () => number): number {
  const ceiling = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1));
  return ceiling * (1 - random() / 2);
}
