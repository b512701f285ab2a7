const START = "\u001b[200~";
const END = "\u001b[201~";

/** Minimum length of a partial marker that is held back. A shorter one may be a key that the user pressed. */
const SHORTEST_PART = 3;

// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u001f\u007f]/g;

/** Replaces line breaks in pasted text, because a line editor treats a line break as the Enter key. */
export const PASTED_BREAK = "\ue000";

/**
 * Detects pasted text in terminal input (bracketed paste), so that its line breaks don't send the message.
 */
export class PasteFilter {
  #isPasting = false;
  #rest = "";

  /** Returns the keys to pass on for a chunk of input. */
  filter(chunk: string): string {
    let input = this.#rest + chunk;
    this.#rest = "";
    let keys = "";
    while (input !== "") {
      const marker = this.#isPasting ? END : START;
      const at = input.indexOf(marker);
      if (at === -1) {
        const kept = partOfMarker(input, marker);
        this.#rest = input.slice(input.length - kept);
        return keys + this.#convert(input.slice(0, input.length - kept));
      }
      keys += this.#convert(input.slice(0, at));
      input = input.slice(at + marker.length);
      this.#isPasting = !this.#isPasting;
    }
    return keys;
  }

  /** Control characters in pasted text are not keys. */
  #convert(input: string): string {
    if (!this.#isPasting) return input;
    return input
      .replaceAll(/\r\n?|\n/g, PASTED_BREAK)
      .replaceAll("\t", "    ")
      .replaceAll(CONTROLS, "");
  }
}

/** Returns the length of the partial marker at the end of the input. */
function partOfMarker(input: string, marker: string): number {
  for (let length = marker.length - 1; length >= SHORTEST_PART; length--) {
    if (input.endsWith(marker.slice(0, length))) return length;
  }
  return 0;
}
