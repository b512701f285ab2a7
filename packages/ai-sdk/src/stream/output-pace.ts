import { limits } from "../limits.ts";

/** Says when a text that grows is worth showing again, whole: often enough to follow, seldom enough to stay cheap. */
export class OutputPace {
  readonly #now: () => number;
  #shownLength = 0;
  #shownAt = Number.NEGATIVE_INFINITY;

  /** @param now The clock; tests pass their own. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  isDue(length: number): boolean {
    const now = this.#now();
    const grown = length - this.#shownLength;
    if (grown < length * limits.outputGrowth && now - this.#shownAt < limits.outputEveryMs) return false;
    this.#shownLength = length;
    this.#shownAt = now;
    return true;
  }
}
