/** Pauses reading from the server while at least one reader is full. */
export class Backpressure {
  readonly #full = new Set<object>();
  readonly #onChange: (isPaused: boolean) => void;

  constructor(onChange: (isPaused: boolean) => void) {
    this.#onChange = onChange;
  }

  hold(reader: object): void {
    const isFirst = this.#full.size === 0;
    this.#full.add(reader);
    if (isFirst) this.#onChange(true);
  }

  release(reader: object): void {
    if (this.#full.delete(reader) && this.#full.size === 0) this.#onChange(false);
  }
}
