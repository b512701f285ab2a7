/** The arrow keys, other keys that send a sequence, and single characters. */
// oxlint-disable-next-line no-control-regex
const KEYS = /\u001b[[O][ABCD]|\u001b\[[\d;]*[~A-Za-z]|[^]/gu;

// oxlint-disable-next-line no-control-regex
const ARROW = /^\u001b[[O][ABCD]$/;

const INTERRUPT = "\u0003";

/**
 * Separates the keys for a list of choices from text: a person may be typing a message when the list appears. Enter after text
 * belongs to the text, and is not passed on until an arrow key was pressed.
 */
export class ChoiceKeys {
  #typed = "";
  #isTyping = false;

  /** What was typed, for the editor. */
  get typed(): string {
    return this.#typed;
  }

  /** Keeps text that came before the list could be read. Passes on nothing but Ctrl-C. */
  hold(input: string): string {
    return this.filter(input).includes(INTERRUPT) ? INTERRUPT : "";
  }

  /** The keys for the list. */
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
