/** Runs one task after the other, in the order they came. */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves when it is this caller's turn, to a function that lets the next one go. */
  async enter(): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    return resolve;
  }
}
