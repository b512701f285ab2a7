export interface RetryPolicy {
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
}

/** How an executor waits between attempts to connect. Codex's numbers. */
export const EXECUTOR_RETRY: RetryPolicy = { firstDelayMs: 1_000, longestDelayMs: 30_000 };

/**
 * How an executor waits while streams without a connection wait for it. They end after 30 s, of which a delay of up to 30 s
 * would leave nothing.
 */
export const SUSPENDED_RETRY: RetryPolicy = { firstDelayMs: 1_000, longestDelayMs: 5_000 };

/** How a harness waits between attempts to resume. Codex's numbers. */
export const HARNESS_RETRY: RetryPolicy = { firstDelayMs: 500, longestDelayMs: 5_000 };

/**
 * Delay before retry `attempt` (from 1). Doubles up to the longest, of which up to half is random, so that clients that
 * were disconnected together don't return together.
 */
export function retryDelayMs(
  policy: RetryPolicy,
  attempt: number,
  random: () => number = Math.random,
): number {
  const ceiling = Math.min(policy.longestDelayMs, policy.firstDelayMs * 2 ** (attempt - 1));
  return ceiling * (1 - random() / 2);
}
