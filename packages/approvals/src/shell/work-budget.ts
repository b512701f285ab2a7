import { LIMITS } from "../limits.ts";

/**
 * What one request may cost, however its work is spread: scripts in scripts share the budget of the request, since loops
 * around them multiply their work.
 */
export class WorkBudget {
  #commands = 0;
  #words = 0;
  #chars = 0;
  #examinedChars = 0;
  #searchedChars = 0;
  #codeChars = 0;
  #pathChars = 0;

  get isExhausted(): boolean {
    return (
      this.#commands > LIMITS.commands || this.#words > LIMITS.words || this.#chars > LIMITS.expandedChars
    );
  }

  /** @returns whether the commands are within the budget. */
  addCommands(count: number): boolean {
    this.#commands += count;
    return this.#commands <= LIMITS.commands;
  }

  /** @returns whether the words and their characters are within the budget. */
  addWords(count: number, chars: number): boolean {
    this.#words += count;
    this.#chars += chars;
    return this.#words <= LIMITS.words && this.#chars <= LIMITS.expandedChars;
  }

  /** Whether some text was too long to be searched: a rule may match it. */
  get isSearchIncomplete(): boolean {
    return this.#searchedChars > LIMITS.searchedChars || this.#codeChars > LIMITS.codeChars;
  }

  /** @returns whether a regular expression may search the characters. */
  addSearched(chars: number): boolean {
    this.#searchedChars += chars;
    return this.#searchedChars <= LIMITS.searchedChars;
  }

  /** @returns whether code of another language may be searched for commands. */
  addCode(chars: number): boolean {
    this.#codeChars += chars;
    return this.#codeChars <= LIMITS.codeChars;
  }

  /** @returns whether a path of this length may be judged. */
  addPath(chars: number): boolean {
    this.#pathChars += chars;
    return chars <= LIMITS.pathChars && this.#pathChars <= LIMITS.judgedPathChars;
  }

  /** Characters of arguments that are programs in a language of their own. */
  addExamined(chars: number): boolean {
    this.#examinedChars += chars;
    return this.#examinedChars <= LIMITS.examinedChars;
  }
}
