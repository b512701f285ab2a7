export type Align = "left" | "right";

export interface TextTable {
  readonly head: readonly string[];
  readonly align: readonly Align[];
  readonly body: readonly (readonly string[])[];
}

/** Formats a table with padded columns, a line below the header and no trailing spaces. */
export function layOutTable(table: TextTable): string {
  const widths = columnWidths(table);
  const rule = widths.map((width) => "─".repeat(width)).join("──");
  const lines = [table.head, ...table.body].map((cells) =>
    padded(cells, table.align, widths).join("  ").trimEnd(),
  );
  return [...lines.slice(0, 1), rule, ...lines.slice(1)].join("\n");
}

/** Formats a Markdown table, padded for readers of the source. */
export function layOutMarkdown(table: TextTable): string {
  const escaped = {
    ...table,
    head: table.head.map(escapeCell),
    body: table.body.map((cells) => cells.map(escapeCell)),
  };
  // Three dashes are the shortest delimiter that every renderer accepts.
  const widths = columnWidths(escaped).map((width) => Math.max(3, width));
  const delimiter = widths.map((width, column) =>
    escaped.align[column] === "right" ? `${"-".repeat(width - 1)}:` : "-".repeat(width),
  );
  const lines = [escaped.head, ...escaped.body].map((cells) => padded(cells, escaped.align, widths));
  return [...lines.slice(0, 1), delimiter, ...lines.slice(1)]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

function columnWidths({ head, body }: TextTable): number[] {
  return head.map((title, column) =>
    Math.max(...[title, ...body.map((cells) => cells[column] ?? "")].map(columnsOf)),
  );
}

function padded(cells: readonly string[], align: readonly Align[], widths: readonly number[]): string[] {
  return widths.map((target, column) => {
    const cell = cells[column] ?? "";
    const blanks = " ".repeat(Math.max(0, target - columnsOf(cell)));
    return align[column] === "right" ? blanks + cell : cell + blanks;
  });
}

/** Counts code points. All characters in the tables (×, ÷, ≥, ✓) are one column wide. */
function columnsOf(text: string): number {
  return Array.from(text).length;
}

function escapeCell(cell: string): string {
  return cell.replaceAll("|", String.raw`\|`).replaceAll("\n", " ");
}
