const MAX_ENTRIES = 100;

/** Walks through earlier messages with the arrow keys, as a shell does. */
export class InputHistory {
  readonly #entries: string[];
  /** Position in the entries, or their number while the person's own text is shown. */
  #position: number;
  /** The text from before the walk, shown again at its end. */
  #draft = "";

  constructor(entries: readonly string[] = []) {
    this.#entries = entries.slice(-MAX_ENTRIES);
    this.#position = this.#entries.length;
  }

  get entries(): readonly string[] {
    return this.#entries;
  }

  /** Adds a sent text and ends the walk. */
  add(text: string): void {
    if (text !== "" && this.#entries.at(-1) !== text) this.#entries.push(text);
    if (this.#entries.length > MAX_ENTRIES) this.#entries.shift();
    this.reset();
  }

  reset(): void {
    this.#position = this.#entries.length;
    this.#draft = "";
  }

  /** The text before the shown one. Undefined at the oldest. */
  previous(current: string): string | undefined {
    if (this.#position === 0) return undefined;
    if (this.#position === this.#entries.length) this.#draft = current;
    this.#position -= 1;
    return this.#entries[this.#position];
  }

  /** The text after the shown one, the draft at the end. Undefined if the draft is shown already. */
  next(): string | undefined {
    if (this.#position === this.#entries.length) return undefined;
    this.#position += 1;
    return this.#entries[this.#position] ?? this.#draft;
  }
}
