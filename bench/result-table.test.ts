import { expect, it } from "vitest";

import { formatNumber } from "./format-number.ts";
import { resultTable } from "./result-table.ts";
import { summarizeRow } from "./summarize-row.ts";

it("has one line per measure, one column per contestant, and a result per bar", () => {
  const first = summarizeRow(
    {
      name: "first",
      measures: [
        { name: "throughput", unit: "msg/s", better: "higher" },
        { name: "p99", unit: "ms", better: "lower" },
      ],
      contestants: ["ours", "peer"],
      bars: [
        { measure: "throughput", of: "ours", against: "peer", limit: { atLeast: 2 } },
        { measure: "p99", of: "ours", against: "peer", limit: { atMost: 0.5 } },
      ],
    },
    new Map([
      ["ours", [{ throughput: 3000, p99: 0.75 }]],
      ["peer", [{ throughput: 1000, p99: 1 }]],
    ]),
  );
  const second = summarizeRow(
    {
      name: "second",
      measures: [{ name: "time", unit: "ms", better: "lower" }],
      contestants: ["ours", "floor"],
      bars: [],
    },
    new Map([
      ["ours", [{ time: 30 }, { time: 20 }, { time: 10 }]],
      ["floor", [{ time: 10 }, { time: 10 }, { time: 10 }]],
    ]),
  );
  expect(resultTable({ name: "sample", description: "", rounds: 1, rows: [first, second] })).toEqual({
    head: ["row", "measure", "unit", "ours", "floor", "peer", "ours ÷ floor", "ours ÷ peer", "bars"],
    align: ["left", "left", "left", "right", "right", "right", "right", "right", "left"],
    body: [
      ["first", "throughput", "msg/s ↑", "3,000  ±0%", "–", "1,000  ±0%", "–", "3.00", "✓ ≥ 2 × peer"],
      ["", "p99", "ms ↓", "0.75  ±0%", "–", "1  ±0%", "–", "0.75", "✗ ≤ 50% of peer"],
      ["second", "time", "ms ↓", "20 ±50%", "10  ±0%", "–", "2.00", "–", ""],
    ],
  });
});

it("rounds numbers to significant digits", () => {
  const written = [0, 0.001234, 0.5, 12.345, 999.4, 1234.5, 1_234_567, Number.NaN].map(formatNumber);
  expect(written).toEqual(["0", "0.00123", "0.5", "12.3", "999", "1,235", "1,234,567", "–"]);
});
