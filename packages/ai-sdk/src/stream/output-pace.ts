import { AI_SDK_LIMITS } from "../limits.ts";

/**
 * Decides when growing text is emitted again: often at first, then less and less, so that the number of emissions grows only
 * logarithmically with the text length and with time.
 */
export class OutputPace {
  readonly #now: () => number;
  readonly #startedAt: number;
  #shownLength = 0;
  #shownAt = Number.NEGATIVE_INFINITY;

  /** @param now The clock; tests pass their own. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#startedAt = now();
  }

  isDue(length: number): boolean {
    const now = this.#now();
    const pause = Math.max(
      AI_SDK_LIMITS.outputEveryMs,
      (now - this.#startedAt) * AI_SDK_LIMITS.outputEveryPart,
    );
    const hasGrown = length - this.#shownLength >= this.#shownLength * AI_SDK_LIMITS.outputGrowth;
    if (!hasGrown && now - this.#shownAt < pause) return false;
    this.#shownLength = length;
    this.#shownAt = now;
    return true;
  }
}
