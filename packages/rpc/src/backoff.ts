const FIRST_DELAY_MS = 20;
const LONGEST_DELAY_MS = 2_000;

/**
 * Delay before retry `attempt` (from 1) after an overload. Doubles up to a limit, minus a random share of up to half,
 * so that callers that were refused together don't retry together.
 */
export function overloadDelayMs(attempt: number, random: () => number): number {
  const ceiling = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1));
  return ceiling * (1 - random() / 2);
}
