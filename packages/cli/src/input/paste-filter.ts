const START = "\u001b[200~";
const END = "\u001b[201~";

/** The shortest part of a marker that is kept back: a shorter one may be a key of the person. */
const SHORTEST_PART = 3;

// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u001f\u007f]/g;

/** Stands for a line break in pasted text, because a line editor takes the character itself as the Enter key. */
export const PASTED_BREAK = "\ue000";

/** Finds pasted text in the input of a terminal (bracketed paste), so that its line breaks don't send the message. */
export class PasteFilter {
  #isPasting = false;
  #rest = "";

  /** The keys to pass on for a chunk of input. */
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

  /** Pasted text is text: its control characters are not keys. */
  #convert(input: string): string {
    if (!this.#isPasting) return input;
    return input
      .replaceAll(/\r\n?|\n/g, PASTED_BREAK)
      .replaceAll("\t", "    ")
      .replaceAll(CONTROLS, "");
  }
}

/** Length of the part of a marker that the input ends with. */
function partOfMarker(input: string, marker: string): number {
  for (let length = marker.length - 1; length >= SHORTEST_PART; length--) {
    if (input.endsWith(marker.slice(0, length))) return length;
  }
  return 0;
}
