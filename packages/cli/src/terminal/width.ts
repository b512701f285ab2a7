import stringWidth from "fast-string-width";
import { wrapAnsi } from "fast-wrap-ansi";

const ELLIPSIS = "…";

/** Created on first use: it takes 10 ms, which most commands don't need to spend. */
let segmenter: Intl.Segmenter | undefined;

/** The characters of a text as a person sees them. */
export function segmentText(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return segmenter.segment(text);
}

/** Number of terminal columns that text needs. Escape sequences need none; CJK characters and emoji need two. */
export function textWidth(text: string): number {
  return stringWidth(text);
}

/** Cuts plain text to a number of columns, with an ellipsis as the last of them. */
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

/** Adds spaces up to a number of columns. */
export function padText(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - textWidth(text)));
}

/** Wraps text at words, and inside words that are longer than a row. Styles continue on the next row. */
export function wrapText(text: string, columns: number): string[] {
  return wrapAnsi(text, Math.max(1, columns), { hard: true, trim: false }).split("\n");
}
