import { formatNumber, formatSpread } from "./format-number.ts";
import type { BenchResult } from "./run-bench.ts";
import type { MeasureResult } from "./summarize-row.ts";
import type { TextTable } from "./text-table.ts";

/** One line per measure. Only the first line of a row has its name. */
export function resultTable(result: BenchResult): TextTable {
  const contestants = everyContestant(result);
  const others = contestants.filter((name) => name !== "ours");
  return {
    head: ["row", "measure", "unit", ...contestants, ...others.map((name) => `ours ÷ ${name}`), "bars"],
    align: [
      "left",
      "left",
      "left",
      ...contestants.map(() => "right" as const),
      ...others.map(() => "right" as const),
      "left",
    ],
    body: result.rows.flatMap((row) =>
      row.measures.map((measure, index) => [
        index === 0 ? row.name : "",
        measure.name,
        // The arrow points in the better direction; without it a quotient is ambiguous.
        `${measure.unit} ${measure.better === "higher" ? "↑" : "↓"}`,
        ...contestants.map((name) => contestantCell(measure, name)),
        ...others.map((name) => ratioCell(measure, name)),
        measure.bars.map((bar) => `${bar.pass ? "✓" : "✗"} ${bar.text}`).join(", "),
      ]),
    ),
  };
}

function contestantCell(measure: MeasureResult, name: string): string {
  const found = measure.contestants.find((contestant) => contestant.name === name);
  return found === undefined
    ? "–"
    : `${formatNumber(found.median)} ${formatSpread(found.spread).padStart(4)}`;
}

function ratioCell(measure: MeasureResult, name: string): string {
  const found = measure.ratios.find((ratio) => ratio.against === name);
  return found === undefined ? "–" : found.median.toFixed(2);
}

/** Collects the contestants of all rows, in order of first appearance. */
function everyContestant(result: BenchResult): string[] {
  const names = result.rows.flatMap((row) =>
    row.measures.flatMap((measure) => measure.contestants.map((contestant) => contestant.name)),
  );
  const seen = [...new Set(names)];
  const fixed = ["ours", "floor"].filter((name) => seen.includes(name));
  return [...fixed, ...seen.filter((name) => !fixed.includes(name))];
}
