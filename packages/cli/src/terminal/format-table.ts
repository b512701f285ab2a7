import { revealLine } from "./sanitize.ts";
import type { Style } from "./style.ts";
import { padText, textWidth, truncateText } from "./width.ts";

interface TableTarget {
  readonly stdout: Pick<NodeJS.WriteStream, "isTTY" | "columns">;
  readonly style: Style;
}

const GAP = "  ";

/** Minimum width of a column. */
const MIN_COLUMN = 8;

/**
 * Formats rows under a header. On a terminal, the widest columns are shortened until a row fits; in a file or
 * a pipe, nothing is cut. Cells may contain any text: it is sanitized and printed on one line.
 */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  { stdout, style }: TableTarget,
): string {
  const cells = rows.map((row) => row.map(revealLine));
  const widths = header.map((title, index) =>
    Math.max(textWidth(title), ...cells.map((row) => textWidth(row[index] ?? ""))),
  );
  if (stdout.isTTY) shrink(widths, stdout.columns || 80);
  const format = (row: readonly string[], paint: (text: string) => string): string =>
    paint(
      row.map((cell, index) => padText(truncateText(cell, widths[index] ?? 0), widths[index] ?? 0)).join(GAP),
    ).trimEnd();
  const plain = (text: string): string => text.trimEnd();
  return `${[format(header, (text) => style.dim(text.trimEnd())), ...cells.map((row) => format(row, plain))].join("\n")}\n`;
}

/** Narrows the widest column by one repeatedly until the row fits, so that similar columns stay similar. */
function shrink(widths: number[], columns: number): void {
  const fits = (): boolean =>
    widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1)) < columns;
  while (!fits()) {
    const widest = widths.indexOf(Math.max(...widths));
    const width = widths[widest] ?? 0;
    if (width <= MIN_COLUMN) return;
    widths[widest] = width - 1;
  }
}
