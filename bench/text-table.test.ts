import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { layOutMarkdown, layOutTable, type Align } from "./text-table.ts";

const cell = fc.string({ maxLength: 12, unit: fc.constantFrom("a", "7", " ", "|", "×", "✓") });
const table = fc.integer({ min: 1, max: 5 }).chain((columns) =>
  fc.record({
    head: fc.array(cell, { minLength: columns, maxLength: columns }),
    align: fc.array(fc.constantFrom<Align>("left", "right"), { minLength: columns, maxLength: columns }),
    body: fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { maxLength: 5 }),
  }),
);

describe("layOutTable", () => {
  it("aligns numbers right and names left below a line", () => {
    expect(
      layOutTable({
        head: ["row", "ours", "bars"],
        align: ["left", "right", "left"],
        body: [
          ["short", "1,234 ±3%", "✓ ≥ 2 × peer"],
          ["a longer row", "5 ±0%", ""],
        ],
      }),
    ).toBe(
      [
        "row                ours  bars",
        "─────────────────────────────────────",
        "short         1,234 ±3%  ✓ ≥ 2 × peer",
        "a longer row      5 ±0%",
      ].join("\n"),
    );
  });

  it("has no trailing spaces", () => {
    fc.assert(
      fc.property(table, (sample) => {
        expect(layOutTable(sample)).not.toMatch(/ $/m);
      }),
    );
  });
});

describe("layOutMarkdown", () => {
  it("marks the alignment and escapes pipes", () => {
    expect(layOutMarkdown({ head: ["a|b", "n"], align: ["left", "right"], body: [["x", "1"]] })).toBe(
      [String.raw`| a\|b |   n |`, "| ---- | --: |", "| x    |   1 |"].join("\n"),
    );
  });

  it("gives every line the same width and the same number of cells", () => {
    fc.assert(
      fc.property(table, (sample) => {
        const lines = layOutMarkdown(sample).split("\n");
        expect(new Set(lines.map((line) => Array.from(line).length)).size).toBe(1);
        for (const line of lines) {
          expect(line.replaceAll(String.raw`\|`, "").split("|")).toHaveLength(sample.head.length + 2);
        }
      }),
    );
  });
});
