/** How long a card must not have moved before its keys are active. People need about this long to notice a change. */
export const ARM_MS = 400;

/** The properties of a keyboard event that determine whether it may answer. */
export interface KeyPress {
  readonly repeat: boolean;
  readonly isComposing: boolean;
  /** Whether the target is a text field. */
  readonly isInField: boolean;
}

/**
 * Decides whether a key acts on a card. Keys that were meant for something else must never answer a request: not if the card has
 * just appeared or moved, not if the key is held, and not from a text field.
 */
export class ArmGate {
  #stillSince: number;

  constructor(now: number) {
    this.#stillSince = now;
  }

  /** Call when the card has appeared, moved, or received the focus. */
  disarm(now: number): void {
    this.#stillSince = now;
  }

  admits({ repeat, isComposing, isInField }: KeyPress, now: number): boolean {
    return !repeat && !isComposing && !isInField && now - this.#stillSince >= ARM_MS;
  }
}
