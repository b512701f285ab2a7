/** How long a card must have been still before its keys act: a person needs that long to notice that something else is there. */
export const ARM_MS = 400;

/** The part of a keyboard event that decides whether it may answer. */
export interface KeyPress {
  readonly repeat: boolean;
  readonly isComposing: boolean;
  /** Whether the target is a field that takes text. */
  readonly isInField: boolean;
}

/**
 * Decides whether a key acts on a card. Keys that were meant for something else must never answer: not while the card has just
 * appeared or moved, not by holding a key, not from a text field.
 */
export class ArmGate {
  #stillSince: number;

  constructor(now: number) {
    this.#stillSince = now;
  }

  /** The card appeared, moved, or got the focus. */
  disarm(now: number): void {
    this.#stillSince = now;
  }

  admits({ repeat, isComposing, isInField }: KeyPress, now: number): boolean {
    return !repeat && !isComposing && !isInField && now - this.#stillSince >= ARM_MS;
  }
}
