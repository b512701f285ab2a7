import { isAscii } from "node:buffer";

/** Maximum characters of one control string of a program, such as a title. A longer one is cancelled. */
const MAX_STRING = 4096;
/** Maximum characters of one control sequence. The emulator uses at most 32 of its parameters. */
const MAX_SEQUENCE = 512;
/** Maximum zero-width characters in one cell. */
const MAX_MARKS = 16;

/* oxlint-disable no-control-regex -- these are the control characters of a terminal. */
const CANCEL = "\u0018";
const ESCAPE = "\u001b";
/**
 * The start of a sequence: ESC, and DCS, SOS, CSI, OSC, PM and APC as one character. Complete sequences without
 * repetition are excluded, so that colours are cheap.
 */
const START = /\u001b(?!\[[\d:;<=>?]{0,64}[@-HJKN-RU-Y[-ac-~])|[\u0090\u0098\u009b\u009d-\u009f]/g;
/** BEL only ends an OSC. */
const END_OF_OSC = /[\u0007\u0018\u001a\u001b\u0080-\u009f]/g;
const END_OF_STRING = /[\u0018\u001a\u001b\u0080-\u009f]/g;
const END_OF_SEQUENCE = /[@-~\u0018\u001a\u001b\u0080-\u009f]/g;
/** Control characters that are executed in the middle of a sequence, which continues after them. */
const CONTROLS = /[\0-\u0017\u0019\u001c-\u001f\u007f]/g;
/* oxlint-enable no-control-regex */
const MARKS = /[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]+/gu;

/** Sequences with a number of lines or columns as their parameter. The emulator does not limit them. */
const REPETITIONS: Readonly<Record<string, "rows" | "columns">> = {
  I: "columns",
  L: "rows",
  M: "rows",
  S: "rows",
  T: "rows",
  Z: "columns",
  b: "columns",
};

interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** The output for the text at a position, and the position where the remaining text starts. */
type Step = readonly [output: string, next: number];

/**
 * Limits the cost of a program's output for the emulator: long strings are cancelled, repetitions are limited to the
 * size of the screen, and the number of marks on a character is limited. Everything else passes unchanged, regardless
 * of how it is split into chunks.
 */
export class SequenceLimiter {
  readonly #size: () => Size;
  readonly #decoder = new TextDecoder();
  #state: "text" | "escape" | "sequence" | "string" = "text";
  /** Parameters of the current sequence. */
  #parameters = "";
  /** The current string. */
  #string = { isOsc: false, length: 0 };
  /** Number of marks at the end of the output so far. */
  #marks = 0;

  constructor(size: () => Size) {
    this.#size = size;
  }

  /** Returns the text for the emulator. */
  limit(bytes: Uint8Array): string {
    const text = this.#limitMarks(this.#decoder.decode(bytes, { stream: true }), isAscii(bytes));
    let limited = "";
    for (let at = 0; at < text.length;) {
      const [output, next] = this.#step(text, at);
      limited += output;
      at = next;
    }
    return limited;
  }

  #step(text: string, at: number): Step {
    switch (this.#state) {
      case "text": {
        const start = find(START, text, at);
        if (start === text.length) return [text.slice(at), start];
        return [text.slice(at, start) + this.#begin(text.charAt(start)), start + 1];
      }
      case "escape":
        return [this.#endEscape(text.charAt(at)), at + 1];
      case "sequence":
        return this.#readSequence(text, at);
      case "string":
        return this.#readString(text, at);
    }
  }

  /**
   * Starts the sequence of a character, and returns its output. Escapes and parameters are held back until the sequence
   * is complete.
   */
  #begin(character: string): string {
    switch (character) {
      case ESCAPE:
        this.#state = "escape";
        return "";
      case "\u009b":
        return this.#beginSequence();
      case "\u0090":
      case "\u0098":
      case "\u009d":
      case "\u009e":
      case "\u009f":
        return this.#beginString(character, character === "\u009d");
      default:
        this.#state = "text";
        return character;
    }
  }

  #endEscape(character: string): string {
    if (character === "[") return this.#beginSequence();
    if (character === "]") return this.#beginString("\u001b]", true);
    if (/[PX^_]/.test(character)) return this.#beginString(ESCAPE + character, false);
    if (character.search(CONTROLS) === 0) return character;
    return character < " " || character >= "\u0080"
      ? this.#begin(character)
      : this.#endWith(ESCAPE + character);
  }

  #endWith(output: string): string {
    this.#state = "text";
    return output;
  }

  #beginSequence(): string {
    this.#state = "sequence";
    this.#parameters = "";
    return "";
  }

  #beginString(output: string, isOsc: boolean): string {
    this.#state = "string";
    this.#string = { isOsc, length: 0 };
    return output;
  }

  #readSequence(text: string, at: number): Step {
    const end = find(END_OF_SEQUENCE, text, at);
    const part = text.slice(at, end);
    const controls = part.match(CONTROLS)?.join("") ?? "";
    // One character more than the limit is kept, as a sign that the sequence was too long.
    this.#parameters = (this.#parameters + part.replaceAll(CONTROLS, "")).slice(0, MAX_SEQUENCE + 1);
    if (end === text.length) return [controls, end];
    const final = text.charAt(end);
    if (!/[@-~]/.test(final)) return [controls + this.#begin(final), end + 1];
    const isTooLong = this.#parameters.length > MAX_SEQUENCE;
    return [controls + this.#endWith(isTooLong ? "" : this.#limitedSequence(final)), end + 1];
  }

  #limitedSequence(final: string): string {
    const measure = REPETITIONS[final];
    const max = measure && this.#size()[measure];
    const parameters =
      max === undefined
        ? this.#parameters
        : this.#parameters.replaceAll(/\d+/g, (digits) => String(Math.min(Number(digits), max)));
    return `${ESCAPE}[${parameters}${final}`;
  }

  #readString(text: string, at: number): Step {
    const { isOsc, length } = this.#string;
    const end = find(isOsc ? END_OF_OSC : END_OF_STRING, text, at);
    const content = text.slice(at, end);
    const wasCancelled = length > MAX_STRING;
    this.#string.length += content.length;
    const isCancelled = this.#string.length > MAX_STRING;
    const output = wasCancelled ? "" : isCancelled ? CANCEL : content;
    if (end === text.length) return [output, end];
    const begun = this.#begin(text.charAt(end));
    // The terminator of a cancelled string would be executed as a separate control.
    const isOnlyEnd = this.#state === "text";
    return [output + (isCancelled && isOnlyEnd ? "" : begun), end + 1];
  }

  /** Marks take no space, so the cell before them would store any number of them. */
  #limitMarks(text: string, isPlain: boolean): string {
    if (text === "") return text;
    const carried = this.#marks;
    this.#marks = 0;
    if (isPlain) return text;
    return text.replaceAll(MARKS, (marks, at: number) => {
      const before = at === 0 ? carried : 0;
      const kept = Array.from(marks).slice(0, MAX_MARKS - before);
      if (at + marks.length === text.length) this.#marks = before + kept.length;
      return kept.join("");
    });
  }
}

function find(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? text.length;
}
