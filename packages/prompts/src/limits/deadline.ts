import { PromptError } from "../errors.ts";

/** The time by which an evaluation must end. */
export class Deadline {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly #now: () => number;

  constructor(at: Date | number, now: () => number = Date.now) {
    this.at = typeof at === "number" ? at : at.getTime();
    this.#now = now;
    if (!Number.isFinite(this.at)) {
      throw new PromptError("invalid_option", "The deadline is not a valid time.");
    }
  }

  static in(milliseconds: number, now: () => number = Date.now): Deadline {
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
