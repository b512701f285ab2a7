/** The arrow keys, other keys that send a sequence, and single characters. */
// oxlint-disable-next-line no-control-regex
const KEYS = /\u001b[[O][ABCD]|\u001b\[[\d;]*[~A-Za-z]|[^]/gu;

// oxlint-disable-next-line no-control-regex
const ARROW = /^\u001b[[O][ABCD]$/;

const INTERRUPT = "\u0003";

/**
 * Separates keys for a list of choices from typed text, because the user may be typing a message when the
 * list appears. Enter after typed text belongs to the text, so it is not passed on until an arrow key has
 * been pressed.
 */
export class ChoiceKeys {
  #typed = "";
  #isTyping = false;

  /** The typed text, for the editor. */
  get typed(): string {
    return this.#typed;
  }

  /** Keeps text that was typed before the list was readable. Passes on only Ctrl-C. */
  holdText(input: string): string {
    return this.filter(input).includes(INTERRUPT) ? INTERRUPT : "";
  }

  /** Returns the keys for the list. */
  filter(input: string): string {
    return Array.from(input.matchAll(KEYS), ([key]) => this.#filterKey(key)).join("");
  }

  #filterKey(key: string): string {
    if (ARROW.test(key)) this.#isTyping = false;
    else if (key === "\r" || key === "\n") return this.#isTyping ? "" : key;
    else if (key === "\u007f" || key === "\b") this.#typed = this.#typed.replace(/[^]$/u, "");
    else if (key >= " ") {
      this.#typed += key;
      this.#isTyping = true;
    }
    return ARROW.test(key) || key === INTERRUPT || key === "\u001b" ? key : "";
  }
}
