/** How long a card must not have moved before it can be answered. People need about this long to notice a change. */
export const ARM_MS = 400;

/** The properties of a keyboard event that determine whether it may answer. */
export interface KeyPress {
  readonly repeat: boolean;
  readonly isComposing: boolean;
  /** Whether the target is a text field. */
  readonly isInField: boolean;
}

/**
 * Decides whether a press or key acts on a card. A press that was meant for something else must never answer a request, so none
 * acts on a card that has just appeared or moved. A key has no effect either if the card has just received the focus, if the key
 * is held down, or if it was pressed in a text field.
 */
export class ArmGate {
  #movedAt: number;
  #focusedAt = -Infinity;

  constructor(now: number) {
    this.#movedAt = now;
  }

  /** Call when the card has appeared or moved. */
  disarm(now: number): void {
    this.#movedAt = now;
  }

  /** Call when the card has received the focus. */
  disarmKeys(now: number): void {
    this.#focusedAt = now;
  }

  /** Whether the card has not moved for long enough. */
  isStill(now: number): boolean {
    return now - this.#movedAt >= ARM_MS;
  }

  admits({ repeat, isComposing, isInField }: KeyPress, now: number): boolean {
    return !repeat && !isComposing && !isInField && this.isStill(now) && now - this.#focusedAt >= ARM_MS;
  }
}
