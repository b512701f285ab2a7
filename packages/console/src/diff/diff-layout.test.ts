import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DiffLayout } from "./diff-layout.ts";
import { parseDiff, runParser } from "./parse-diff.ts";
import { counterpartOf, splitPairs } from "./split-pairs.ts";

const DIFF = runParser(
  parseDiff(`--- a/one
+++ b/one
@@ -1,3 +1,2 @@
 context
-removed 1
-removed 2
+added 1
@@ -9 +9,2 @@
 context
+added 2
--- a/two
+++ b/two
@@ -1 +1 @@
-removed 3
+added 3
`),
);
const ALL_OPEN = { collapsed: new Set<number>(), isSplit: false };

describe("DiffLayout", () => {
  it("lists a heading per file, then its rows", () => {
    const layout = new DiffLayout(DIFF, ALL_OPEN);
    expect(layout.count).toBe(13);
    expect(layout.at(0)).toEqual({ type: "file", file: 0 });
    expect(layout.at(1)).toEqual({ type: "row", file: 0, left: 0, right: 0 });
    expect(layout.at(9)).toEqual({ type: "file", file: 1 });
    expect(layout.at(10)).toEqual({ type: "row", file: 1, left: 8, right: 8 });
  });

  it("leaves out the rows of collapsed files", () => {
    const layout = new DiffLayout(DIFF, { ...ALL_OPEN, collapsed: new Set([0]) });
    expect(layout.count).toBe(5);
    expect(layout.at(1)).toEqual({ type: "file", file: 1 });
    expect(layout.positionOfRow(3)).toBe(0);
    expect(layout.nextHunk(0, 1)).toBe(2);
  });

  it("moves between hunks and files", () => {
    const layout = new DiffLayout(DIFF, ALL_OPEN);
    expect([
      layout.nextHunk(0, 1),
      layout.nextHunk(1, 1),
      layout.nextHunk(6, 1),
      layout.nextHunk(10, 1),
    ]).toEqual([1, 6, 10, undefined]);
    expect([layout.nextHunk(10, -1), layout.nextHunk(1, -1)]).toEqual([6, undefined]);
    expect([
      layout.nextFile(0, 1),
      layout.nextFile(9, 1),
      layout.nextFile(12, -1),
      layout.nextFile(9, -1),
    ]).toEqual([9, undefined, 9, 0]);
  });

  it("places removed lines beside added ones in split columns", () => {
    const layout = new DiffLayout(DIFF, { ...ALL_OPEN, isSplit: true });
    expect(layout.at(3)).toEqual({ type: "row", file: 0, left: 2, right: 4 });
    expect(layout.at(4)).toEqual({ type: "row", file: 0, left: 3, right: -1 });
    expect(layout.positionOfRow(4)).toBe(3);
  });

  it("finds every row at its position", () => {
    fc.assert(
      fc.property(fc.boolean(), fc.subarray([0, 1]), (isSplit, collapsed) => {
        const layout = new DiffLayout(DIFF, { collapsed: new Set(collapsed), isSplit });
        for (let row = 0; row < DIFF.rows.count; row += 1) {
          const entry = layout.at(layout.positionOfRow(row));
          const isThere =
            entry.type === "row" ? entry.left === row || entry.right === row : collapsed.includes(entry.file);
          expect(isThere).toBe(true);
        }
      }),
    );
  });
});

describe("splitPairs", () => {
  it("keeps every row, in order", () => {
    for (const file of DIFF.files) {
      const rows = [...new Set(splitPairs(DIFF.rows, file))]
        .filter((row) => row >= 0)
        .toSorted((a, b) => a - b);
      expect(rows).toEqual(
        Array.from({ length: file.endRow - file.firstRow }, (_, index) => file.firstRow + index),
      );
    }
  });
});

describe("counterpartOf", () => {
  it("pairs removed and added lines of one change, both ways", () => {
    const [file] = DIFF.files;
    if (!file) throw new Error("There is no file.");
    const pairs = [1, 2, 3, 4, 7].map((row) => counterpartOf(DIFF.rows, row, file));
    expect(pairs).toEqual([undefined, 4, undefined, 2, undefined]);
  });
});
