import stringWidth from "fast-string-width";
import { wrapAnsi } from "fast-wrap-ansi";

const ELLIPSIS = "…";

/** Created on first use, because creating it takes 10 ms and most commands don't need it. */
let segmenter: Intl.Segmenter | undefined;

/** Splits a text into the characters that a user sees. */
export function segmentText(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return segmenter.segment(text);
}

/**
 * Returns the number of terminal columns that a text needs. Escape sequences need none; CJK characters and
 * emoji need two.
 */
export function textWidth(text: string): number {
  return stringWidth(text);
}

/** Cuts plain text to a number of columns, ending with an ellipsis. */
export function truncateText(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  if (columns < 1) return "";
  let width = 0;
  let kept = "";
  for (const { segment } of segmentText(text)) {
    const next = width + textWidth(segment);
    if (next > columns - 1) break;
    width = next;
    kept += segment;
  }
  return kept + ELLIPSIS;
}

/** Pads text with spaces to a number of columns. */
export function padText(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - textWidth(text)));
}

/** Wraps text at words, and inside words that are longer than a row. Styles continue on the next row. */
export function wrapText(text: string, columns: number): string[] {
  return wrapAnsi(text, Math.max(1, columns), { hard: true, trim: false }).split("\n");
}
