import { checkValue } from "../check-value.ts";
import { PromptError } from "../errors.ts";

/** The time by which an evaluation must end. */
export class Deadline {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly #now: () => number;

  constructor(at: Date | number, now: () => number = Date.now) {
    this.at = at instanceof Date ? at.getTime() : at;
    this.#now = now;
    if (!Number.isFinite(this.at)) {
      throw new PromptError(
        "invalid_option",
        `A deadline needs a valid Date or a number of milliseconds since 1970, got ${String(at)}.`,
      );
    }
  }

  /** A deadline this many milliseconds from now. */
  static in(milliseconds: number, now: () => number = Date.now): Deadline {
    checkValue("Deadline.in: milliseconds", milliseconds, "a number", Number.isFinite);
    return new Deadline(now() + milliseconds, now);
  }

  /** Milliseconds left; 0 or less if it has passed. */
  remaining(): number {
    return this.at - this.#now();
  }

  get hasPassed(): boolean {
    return this.remaining() <= 0;
  }
}
