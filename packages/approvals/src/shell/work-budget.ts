import { LIMITS } from "../limits.ts";

const NOTHING_SPENT = {
  codeChars: 0,
  commands: 0,
  examinedChars: 0,
  expandedChars: 0,
  judgedPathChars: 0,
  searchedChars: 0,
  words: 0,
};

type Limited = keyof typeof NOTHING_SPENT;

/**
 * What one request may cost, however its work is spread: scripts in scripts share the budget of the request, since loops
 * around them multiply their work.
 */
export class WorkBudget {
  readonly #spent = { ...NOTHING_SPENT };

  /** @returns whether everything that was spent so far is within the limit. */
  spend(what: Limited, amount: number): boolean {
    this.#spent[what] += amount;
    return this.#spent[what] <= LIMITS[what];
  }

  /** Whether more was spent than any of these limits allows. */
  hasExceeded(...limits: readonly Limited[]): boolean {
    return limits.some((what) => this.#spent[what] > LIMITS[what]);
  }
}
