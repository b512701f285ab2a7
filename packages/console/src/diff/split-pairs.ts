import type { DiffRows } from "./diff-rows.ts";

interface RowRange {
  readonly firstRow: number;
  readonly endRow: number;
}

/**
 * Arranges the rows of a file in two columns, as pairs of a left and a right row. An empty cell is -1. Removed lines are beside
 * the lines that replace them.
 */
export function splitPairs(rows: DiffRows, { firstRow, endRow }: RowRange): Int32Array {
  const pairs = new Int32Array((endRow - firstRow) * 2);
  let count = 0;
  const push = (left: number, right: number): void => {
    pairs[count] = left;
    pairs[count + 1] = right;
    count += 2;
  };
  let row = firstRow;
  while (row < endRow) {
    const removedEnd = endOfRun(rows, row, endRow, "removed");
    const addedEnd = endOfRun(rows, removedEnd, endRow, "added");
    if (addedEnd === row) {
      push(row, row);
      row += 1;
      continue;
    }
    const [removed, added] = [removedEnd - row, addedEnd - removedEnd];
    for (let index = 0; index < Math.max(removed, added); index += 1) {
      push(index < removed ? row + index : -1, index < added ? removedEnd + index : -1);
    }
    row = addedEnd;
  }
  return pairs.slice(0, count);
}

/** Maximum number of lines of a change that are compared word by word. Longer changes are probably rewritten text. */
const MAX_COMPARED_LINES = 200;

/** The line with which a removed or added line is compared, or undefined. */
export function counterpartOf(
  rows: DiffRows,
  row: number,
  { firstRow, endRow }: RowRange,
): number | undefined {
  const kind = rows.kindOf(row);
  if (kind !== "removed" && kind !== "added") return undefined;
  const start = kind === "removed" ? startOfRun(rows, row, firstRow, "removed") : undefined;
  const addedStart = kind === "added" ? startOfRun(rows, row, firstRow, "added") : undefined;
  const removedStart = start ?? startOfRun(rows, (addedStart ?? row) - 1, firstRow, "removed");
  const removedEnd = addedStart ?? endOfRun(rows, row, endRow, "removed");
  const addedEnd = endOfRun(rows, removedEnd, endRow, "added");
  const [removed, added] = [removedEnd - removedStart, addedEnd - removedEnd];
  if (removed <= 0 || added <= 0 || removed + added > MAX_COMPARED_LINES) return undefined;
  const offset = row - (kind === "removed" ? removedStart : removedEnd);
  if (offset >= (kind === "removed" ? added : removed)) return undefined;
  return (kind === "removed" ? removedEnd : removedStart) + offset;
}

function endOfRun(rows: DiffRows, from: number, end: number, kind: "removed" | "added"): number {
  let row = from;
  while (row < end && rows.kindOf(row) === kind) row += 1;
  return row;
}

/** The first row of the run that ends with `from`; `from + 1` if that row is of another kind. */
function startOfRun(rows: DiffRows, from: number, first: number, kind: "removed" | "added"): number {
  let row = from;
  while (row >= first && rows.kindOf(row) === kind) row -= 1;
  return row + 1;
}
