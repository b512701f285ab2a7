/**
 * `note` is a line outside of hunks, such as that of a binary file. It is shown unchanged, because no line of a diff may be
 * omitted.
 */
export type DiffRowKind = "hunk" | "context" | "added" | "removed" | "note";

const KINDS: readonly DiffRowKind[] = ["hunk", "context", "added", "removed", "note"];

/** A row of a diff. */
export interface DiffRow {
  readonly kind: DiffRowKind;
  /** The text without the sign. */
  readonly text: string;
  /** Line numbers, or 0 where the row has none. */
  readonly oldLine: number;
  readonly newLine: number;
}

/** Numbers per row: kind, start and end in the text, old and new line. */
const WIDTH = 5;

/**
 * The rows of a diff as numbers in one array, so that a diff of 100,000 lines is one allocation instead of 100,000 objects. Texts are
 * extracted from the diff when a row is rendered.
 */
export class DiffRows {
  #numbers = new Int32Array(WIDTH * 1024);
  #count = 0;
  #text = "";

  get count(): number {
    return this.#count;
  }

  push(kind: DiffRowKind, start: number, end: number, oldLine: number, newLine: number): void {
    const at = this.#count * WIDTH;
    if (at === this.#numbers.length) {
      const longer = new Int32Array(this.#numbers.length * 2);
      longer.set(this.#numbers);
      this.#numbers = longer;
    }
    this.#numbers[at] = KINDS.indexOf(kind);
    this.#numbers[at + 1] = start;
    this.#numbers[at + 2] = end;
    this.#numbers[at + 3] = oldLine;
    this.#numbers[at + 4] = newLine;
    this.#count += 1;
  }

  /** The text to which the positions refer. */
  setText(text: string): void {
    this.#text = text;
  }

  kindOf(index: number): DiffRowKind {
    return KINDS[this.#numbers[index * WIDTH] ?? 0] ?? "note";
  }

  /** Length of the text of a row, without extracting the text. */
  lengthOf(index: number): number {
    return this.#number(index, 2) - this.#number(index, 1);
  }

  at(index: number): DiffRow {
    return {
      kind: this.kindOf(index),
      text: this.#text.slice(this.#number(index, 1), this.#number(index, 2)),
      oldLine: this.#number(index, 3),
      newLine: this.#number(index, 4),
    };
  }

  #number(index: number, field: number): number {
    return this.#numbers[index * WIDTH + field] ?? 0;
  }
}
