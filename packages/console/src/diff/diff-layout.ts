import type { DiffFile, ParsedDiff } from "./parse-diff.ts";
import { splitPairs } from "./split-pairs.ts";

/** The entry at a position of the list: the heading of a file, or a row. `right` is the same row unless columns are split. */
export type LayoutEntry =
  | { readonly type: "file"; readonly file: number }
  | { readonly type: "row"; readonly file: number; readonly left: number; readonly right: number };

export interface LayoutOptions {
  /** Indexes of files whose rows are hidden. */
  readonly collapsed: ReadonlySet<number>;
  readonly isSplit: boolean;
}

/** Positions of headings and rows in the scrolled list. */
export class DiffLayout {
  readonly #diff: ParsedDiff;
  /** The position of each file's heading, and the length of the list. */
  readonly #starts: readonly number[];
  readonly #fileStarts: ReadonlySet<number>;
  readonly #pairs: readonly (Int32Array | null)[];

  constructor(diff: ParsedDiff, { collapsed, isSplit }: LayoutOptions) {
    this.#diff = diff;
    this.#pairs = diff.files.map((file, index) =>
      isSplit && !collapsed.has(index) ? splitPairs(diff.rows, file) : null,
    );
    const starts = [0];
    for (const [index, file] of diff.files.entries()) {
      const pairs = this.#pairs[index];
      const rows = collapsed.has(index) ? 0 : pairs ? pairs.length / 2 : file.endRow - file.firstRow;
      starts.push((starts.at(-1) ?? 0) + 1 + rows);
    }
    this.#starts = starts;
    this.#fileStarts = new Set(starts.slice(0, -1));
  }

  get count(): number {
    return this.#starts.at(-1) ?? 0;
  }

  at(position: number): LayoutEntry {
    const file = this.fileAt(position);
    const offset = position - (this.#starts[file] ?? 0) - 1;
    if (offset < 0) return { type: "file", file };
    const pairs = this.#pairs[file];
    if (pairs)
      return { type: "row", file, left: pairs[offset * 2] ?? -1, right: pairs[offset * 2 + 1] ?? -1 };
    const row = (this.#diff.files[file]?.firstRow ?? 0) + offset;
    return { type: "row", file, left: row, right: row };
  }

  /** The file that a position belongs to. */
  fileAt(position: number): number {
    let [low, high] = [0, this.#diff.files.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#starts[middle] ?? 0) <= position) low = middle;
      else high = middle - 1;
    }
    return Math.max(low, 0);
  }

  /** Whether the entry at a position is the heading of a file. */
  isFile(position: number): boolean {
    return this.#fileStarts.has(position);
  }

  positionOfFile(file: number): number {
    return this.#starts[file] ?? 0;
  }

  /** The position of a row, or that of the heading if the file is collapsed. */
  positionOfRow(row: number): number {
    const file = this.#diff.files.findIndex(({ firstRow, endRow }) => row >= firstRow && row < endRow);
    if (file === -1) return 0;
    const start = this.positionOfFile(file);
    const length = (this.#starts[file + 1] ?? 0) - start;
    if (length === 1) return start;
    const pairs = this.#pairs[file];
    if (pairs) return start + 1 + Math.floor(Math.max(0, pairs.indexOf(row)) / 2);
    return start + 1 + row - (this.#diff.files[file]?.firstRow ?? 0);
  }

  /** The next heading of a hunk after or before a position, over all files that are open. Undefined at the end. */
  nextHunk(position: number, step: 1 | -1): number | undefined {
    const positions = this.#diff.files.flatMap((file, index) => this.#hunkPositions(file, index));
    return step === 1
      ? positions.find((candidate) => candidate > position)
      : positions.findLast((candidate) => candidate < position);
  }

  /** The next heading of a file. Backwards, the heading of the same file comes first. */
  nextFile(position: number, step: 1 | -1): number | undefined {
    const starts = this.#starts.slice(0, -1);
    return step === 1
      ? starts.find((start) => start > position)
      : starts.findLast((start) => start < position);
  }

  #hunkPositions({ hunks }: DiffFile, index: number): readonly number[] {
    const isOpen = (this.#starts[index + 1] ?? 0) - this.positionOfFile(index) > 1;
    return isOpen ? hunks.map((row) => this.positionOfRow(row)) : [];
  }
}
