const MAX_ENTRIES = 100;

/** The history of sent messages, which is navigated with the arrow keys as in a shell. */
export class InputHistory {
  readonly #entries: string[];
  /** Index of the shown entry, or the number of entries while the draft is shown. */
  #position: number;
  /** The text before the navigation started. It is shown after the newest entry. */
  #draft = "";

  constructor(entries: readonly string[] = []) {
    this.#entries = entries.slice(-MAX_ENTRIES);
    this.#position = this.#entries.length;
  }

  get entries(): readonly string[] {
    return this.#entries;
  }

  /** Adds a sent text and ends the navigation. */
  add(text: string): void {
    if (text !== "" && this.#entries.at(-1) !== text) this.#entries.push(text);
    if (this.#entries.length > MAX_ENTRIES) this.#entries.shift();
    this.reset();
  }

  reset(): void {
    this.#position = this.#entries.length;
    this.#draft = "";
  }

  /** Moves to the previous text. Undefined if the oldest one is already shown. */
  previous(current: string): string | undefined {
    if (this.#position === 0) return undefined;
    if (this.#position === this.#entries.length) this.#draft = current;
    this.#position -= 1;
    return this.#entries[this.#position];
  }

  /** Moves to the next text, and finally to the draft. Undefined if the draft is already shown. */
  next(): string | undefined {
    if (this.#position === this.#entries.length) return undefined;
    this.#position += 1;
    return this.#entries[this.#position] ?? this.#draft;
  }
}
