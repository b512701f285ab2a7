/** Characters that change how the text around them is displayed: bidirectional marks and invisible ones. */
const NAMES: Readonly<Record<string, string>> = {
  "\u00AD": "SHY",
  "\u061C": "ALM",
  "\u180E": "MVS",
  "\u200B": "ZWSP",
  "\u200E": "LRM",
  "\u200F": "RLM",
  "\u202A": "LRE",
  "\u202B": "RLE",
  "\u202C": "PDF",
  "\u202D": "LRO",
  "\u202E": "RLO",
  "\u2028": "LS",
  "\u2029": "PS",
  "\u2060": "WJ",
  "\u2066": "LRI",
  "\u2067": "RLI",
  "\u2068": "FSI",
  "\u2069": "PDI",
  "\uFEFF": "BOM",
};

const HIDDEN =
  /[\p{Cc}\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060\u2066-\u2069\uFEFF]|[\u{E0000}-\u{E007F}]/gu;

/**
 * A text in which nothing is hidden: control characters as `␛`, bidirectional and invisible characters as `⟪RLO⟫`. For what
 * a person approves. Line feeds and tabs stay.
 */
export function visibleText(text: string): string {
  return text.replaceAll(HIDDEN, (character) => {
    if (character === "\n" || character === "\t") return character;
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x20) return String.fromCodePoint(0x24_00 + code);
    if (code === 0x7f) return "␡";
    const name = NAMES[character] ?? `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
    return `⟪${name}⟫`;
  });
}
