import stringWidth from "fast-string-width";
import { wrapAnsi } from "fast-wrap-ansi";

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

const ELLIPSIS = "…";

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
  for (const { segment } of segmenter.segment(text)) {
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
