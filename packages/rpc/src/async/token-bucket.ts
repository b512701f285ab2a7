export interface TokenBucketOptions {
  readonly perSecond: number;
  /** Maximum amount that can be taken without a delay. Default: the amount of one second. */
  readonly burst?: number;
  /** Returns the milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

/** Limits a rate. A caller can take more than is available, but must then wait until the bucket is no longer overdrawn. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #now: () => number;
  #level: number;
  #at: number;

  constructor({ perSecond, burst = perSecond, now = () => performance.now() }: TokenBucketOptions) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#now = now;
    this.#level = burst;
    this.#at = now();
  }

  /** Takes an amount. Returns the number of milliseconds to wait before the next one may be taken. */
  take(amount: number): number {
    if (this.#perSecond === Infinity) return 0;
    this.#refill();
    this.#level -= amount;
    return this.#level >= 0 ? 0 : Math.ceil((-this.#level / this.#perSecond) * 1000);
  }

  /** Takes an amount and returns 0 if it is available. Otherwise returns the number of milliseconds until it will be. */
  tryTake(amount: number): number {
    if (this.#perSecond === Infinity) return 0;
    this.#refill();
    if (this.#level < amount) return Math.ceil(((amount - this.#level) / this.#perSecond) * 1000);
    this.#level -= amount;
    return 0;
  }

  #refill(): void {
    const at = this.#now();
    this.#level = Math.min(this.#burst, this.#level + ((at - this.#at) / 1000) * this.#perSecond);
    this.#at = at;
  }
}
