/** A part of a text. Escapes represent characters that would be invisible or change the display of the rest. */
export interface VisiblePart {
  readonly text: string;
  readonly isEscape: boolean;
}

/** Characters that change the display of the surrounding text: bidirectional marks and invisible characters. */
const NAMES: Readonly<Record<string, string>> = {
  "\u00AD": "SHY",
  "\u061C": "ALM",
  "\u180E": "MVS",
  "\u200B": "ZWSP",
  "\u200C": "ZWNJ",
  "\u200D": "ZWJ",
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

/** A joiner between two emoji and an emoji's variation selector are parts of a picture, and are not hidden characters. */
const HIDDEN =
  /(?![\n\t]|\uFE0F|(?<=\p{Extended_Pictographic}\uFE0F?\p{Emoji_Modifier}?)\u200D(?=\p{Extended_Pictographic}))[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\uFFF9-\uFFFB]/gu;

/** Splits a text into plain parts and escapes, so that an escape can be distinguished from the same characters in the text. */
export function visibleParts(text: string): readonly VisiblePart[] {
  const parts: VisiblePart[] = [];
  let end = 0;
  for (const { 0: character, index } of text.matchAll(HIDDEN)) {
    if (index > end) parts.push({ text: text.slice(end, index), isEscape: false });
    parts.push({ text: escapeCharacter(character), isEscape: true });
    end = index + character.length;
  }
  if (end < text.length) parts.push({ text: text.slice(end), isEscape: false });
  return parts;
}

/**
 * Makes hidden characters visible: control characters as `␛`, bidirectional and invisible characters as `⟪RLO⟫`. For texts that
 * a person approves. Line feeds and tabs are kept.
 */
export function visibleText(text: string): string {
  return text.replaceAll(HIDDEN, escapeCharacter);
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x24_00 + code);
  if (code === 0x7f) return "␡";
  return `⟪${NAMES[character] ?? `U+${code.toString(16).toUpperCase().padStart(4, "0")}`}⟫`;
}
