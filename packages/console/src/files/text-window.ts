export interface TextLine {
  /** Number in the file, starting at 1. Undefined if the window does not begin at the start of the file. */
  readonly number: number | undefined;
  readonly text: string;
}

/** Longer lines are broken, so that a very long line does not become a huge row. */
export const MAX_LINE = 2000;

/**
 * A part of a large file as lines. It begins at a byte of the file and grows at its end, chunk by chunk; chunks may split characters
 * and line ends.
 */
export class TextWindow {
  readonly start: number;
  readonly #decoder = new TextDecoder();
  readonly #lines: TextLine[] = [];
  #end: number;
  #tail = "";
  #nextNumber: number | undefined;
  /** A window that starts inside the file omits the first line, which is probably incomplete. */
  #dropsFirst: boolean;
  #isBinary = false;

  constructor(start = 0) {
    this.start = start;
    this.#end = start;
    this.#nextNumber = start === 0 ? 1 : undefined;
    this.#dropsFirst = start > 0;
  }

  /** Offset of the end of the added bytes. */
  get end(): number {
    return this.#end;
  }

  get lines(): readonly TextLine[] {
    return this.#lines;
  }

  /** Whether a NUL was found, so that the file is binary. */
  get isBinary(): boolean {
    return this.#isBinary;
  }

  /** Adds the bytes at `end`. `isLast` if the file ends with them. */
  append(bytes: Uint8Array, isLast: boolean): void {
    if (bytes.includes(0)) this.#isBinary = true;
    this.#end += bytes.byteLength;
    const text = this.#tail + this.#decoder.decode(bytes, { stream: !isLast });
    const parts = text.split("\n");
    this.#tail = parts.pop() ?? "";
    for (const part of parts) this.#push(part.endsWith("\r") ? part.slice(0, -1) : part);
    if (isLast) {
      if (this.#tail !== "") this.#push(this.#tail);
      this.#tail = "";
    }
  }

  #push(text: string): void {
    if (this.#dropsFirst) {
      this.#dropsFirst = false;
      return;
    }
    const number = this.#nextNumber;
    if (this.#nextNumber !== undefined) this.#nextNumber += 1;
    this.#lines.push({ number, text: text.slice(0, MAX_LINE) });
    // The remaining rows of a broken line have no number.
    for (let at = MAX_LINE; at < text.length; at += MAX_LINE) {
      this.#lines.push({ number: undefined, text: text.slice(at, at + MAX_LINE) });
    }
  }
}
