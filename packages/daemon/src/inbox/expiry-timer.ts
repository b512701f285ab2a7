import { timerDelay } from "@codexkit/rpc/async";

/** Delay before the next attempt, if a call did not expire the entry. */
const RETRY_MS = 1_000;

/**
 * Calls `expire` when an inbox entry expires, and again until it is disposed. One call is not enough, because the
 * expiry is by the store's clock, which may be behind, and because the store may be unavailable.
 */
export class ExpiryTimer implements Disposable {
  readonly #expiresAt: number;
  readonly #expire: () => Promise<unknown>;
  #timer: NodeJS.Timeout | undefined;

  /** @param expire Its rejection is ignored. */
  constructor(expiresAt: number, expire: () => Promise<unknown>) {
    this.#expiresAt = expiresAt;
    this.#expire = expire;
    this.#arm(0);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #arm(minimumMs: number): void {
    const delayMs = timerDelay(Math.max(this.#expiresAt - Date.now(), minimumMs));
    const timer = setTimeout(() => void this.#fire(timer), delayMs);
    this.#timer = timer;
  }

  async #fire(timer: NodeJS.Timeout): Promise<void> {
    const isDue = Date.now() >= this.#expiresAt;
    if (isDue) await this.#expire().catch(() => {});
    if (this.#timer === timer) this.#arm(isDue ? RETRY_MS : 0);
  }
}
