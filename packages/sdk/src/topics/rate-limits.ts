import type { v2 } from "@codexkit/protocol";

/** The account's quotas as far as they are known. */
export interface RateLimits {
  /** The main quota; `undefined` until the server said something of it. */
  readonly main: v2.RateLimitSnapshot | undefined;
  /** Every quota by its id, the main one included. */
  readonly byLimitId: Readonly<Record<string, v2.RateLimitSnapshot>>;
}

/** What `account/rateLimits/read` answered, in the shape that updates are merged into. */
export function fromRateLimitsResponse(response: v2.GetAccountRateLimitsResponse): RateLimits {
  const byLimitId: Record<string, v2.RateLimitSnapshot> = {};
  for (const [id, snapshot] of Object.entries(response.rateLimitsByLimitId ?? {})) {
    if (snapshot) byLimitId[id] = snapshot;
  }
  const { limitId } = response.rateLimits;
  if (limitId !== null) byLimitId[limitId] ??= response.rateLimits;
  return { main: response.rateLimits, byLimitId };
}

/** Merges an update, which is sparse: a `null` in it says "not told", never "gone". */
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
  const told = Object.fromEntries(Object.entries(update).filter(([, value]) => value !== null));
  return { ...known, ...told };
}
