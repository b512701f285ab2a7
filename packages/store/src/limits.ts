import type { StoreLimits } from "./store.ts";

export const DEFAULT_STORE_LIMITS: StoreLimits = {
  connections: 10,
  connectMs: 5_000,
  statementMs: 30_000,
  lockMs: 10_000,
  pollMs: 1_000,
  fastPollMs: 200,
};
