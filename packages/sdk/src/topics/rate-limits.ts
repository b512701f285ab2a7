import type { v2 } from "@codexkit/protocol";

/** The account's known quotas. */
export interface RateLimits {
  /** The main quota. Undefined until the server has reported it. */
  readonly main: v2.RateLimitSnapshot | undefined;
  /** All quotas by id, including the main one. */
  readonly byLimitId: Readonly<Record<string, v2.RateLimitSnapshot>>;
}

/** Converts the response of `account/rateLimits/read`. */
export function fromRateLimitsResponse(response: v2.GetAccountRateLimitsResponse): RateLimits {
  const byLimitId: Record<string, v2.RateLimitSnapshot> = {};
  for (const [id, snapshot] of Object.entries(response.rateLimitsByLimitId ?? {})) {
    if (snapshot) byLimitId[id] = snapshot;
  }
  const { limitId } = response.rateLimits;
  if (limitId !== null) byLimitId[limitId] ??= response.rateLimits;
  return { main: response.rateLimits, byLimitId };
}

/** Merges a sparse update: a null value means "unchanged", never "removed". */
export function mergeRateLimits(known: RateLimits, update: v2.RateLimitSnapshot): RateLimits {
  const id = update.limitId ?? known.main?.limitId ?? null;
  const isMain =
    known.main === undefined || id === null || known.main.limitId === null || id === known.main.limitId;
  const main = isMain ? mergeSnapshot(known.main, update) : known.main;
  if (id === null) return { main, byLimitId: known.byLimitId };
  return { main, byLimitId: { ...known.byLimitId, [id]: mergeSnapshot(known.byLimitId[id], update) } };
}

function mergeSnapshot(
  known: v2.RateLimitSnapshot | undefined,
  update: v2.RateLimitSnapshot,
): v2.RateLimitSnapshot {
  if (known === undefined) return update;
  const changes = Object.fromEntries(Object.entries(update).filter(([, value]) => value !== null));
  return { ...known, ...changes };
}
