import { BoundedMap, TokenBucket, type TokenBucketOptions } from "@codexkit/rpc/async";

/** Maximum number of tracked keys. The least recently used key is dropped, which refills its bucket. */
const MAX_KEYS = 10_000;

/** A token bucket per key. */
export class RateLimiter {
  readonly #buckets = new BoundedMap<string, TokenBucket>(MAX_KEYS);
  readonly #options: TokenBucketOptions;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
  }

  /** Takes one request from the key's bucket. Returns 0, or the seconds after which the next request is allowed. */
  tryAcquire(key: string): number {
    const bucket = this.#buckets.get(key) ?? new TokenBucket(this.#options);
    this.#buckets.set(key, bucket);
    return Math.ceil(bucket.tryTake(1) / 1000);
  }
}
