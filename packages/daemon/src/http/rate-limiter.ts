import { BoundedMap } from "@codexkit/rpc/async";

export interface RateLimiterOptions {
  readonly perSecond: number;
  readonly burst: number;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

/** Keys that are remembered. The least recently used one is forgotten, and then has its whole burst again. */
const MAX_KEYS = 10_000;

/** A token bucket per key. */
export class RateLimiter {
  readonly #buckets = new BoundedMap<string, { level: number; at: number }>(MAX_KEYS);
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #now: () => number;

  constructor({ perSecond, burst, now = () => performance.now() }: RateLimiterOptions) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#now = now;
  }

  /** Takes one request from the key's bucket. Returns 0, or the seconds after which the next one is allowed. */
  take(key: string): number {
    const at = this.#now();
    const { level: before, at: since } = this.#buckets.get(key) ?? { level: this.#burst, at };
    const level = Math.min(this.#burst, before + ((at - since) / 1000) * this.#perSecond);
    const isAllowed = level >= 1;
    this.#buckets.set(key, { level: isAllowed ? level - 1 : level, at });
    return isAllowed ? 0 : Math.ceil((1 - level) / this.#perSecond);
  }
}
