import type { v2 } from "@codexkit/protocol";

/** A quota with the given values. All others are null. */
export function rateLimits(values: Partial<v2.RateLimitSnapshot> = {}): v2.RateLimitSnapshot {
  return {
    limitId: null,
    limitName: null,
    normalModelSlug: null,
    primary: null,
    secondary: null,
    credits: null,
    individualLimit: null,
    spendControlReached: null,
    planType: null,
    rateLimitReachedType: null,
    ...values,
  };
}

export function rateLimitWindow(usedPercent: number): v2.RateLimitWindow {
  return { usedPercent, windowDurationMins: 300, resetsAt: 1 };
}
