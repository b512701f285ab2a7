import { availableParallelism } from "node:os";

import type { BarResult } from "./bars.ts";
import { resultTable } from "./result-table.ts";
import type { BenchResult } from "./run-bench.ts";
import { layOutMarkdown, layOutTable } from "./text-table.ts";

export type Format = "text" | "json" | "markdown";

/** Describes the machine without identifying its owner. */
export interface Machine {
  readonly node: string;
  readonly platform: string;
  readonly arch: string;
  readonly cpus: number;
}

export function thisMachine(): Machine {
  return {
    node: process.versions.node,
    platform: process.platform,
    arch: process.arch,
    cpus: availableParallelism(),
  };
}

export function report(results: readonly BenchResult[], machine: Machine, format: Format): string {
  if (format === "json") return JSON.stringify({ machine, benchmarks: results }, undefined, 2);
  const { node, platform, arch, cpus } = machine;
  const host = `Node ${node}, ${platform} ${arch}, ${cpus} cpus`;
  return results
    .map((result) => {
      const table = resultTable(result);
      const title = `${result.name}: ${result.description}`;
      const rounds = `medians of ${result.rounds} rounds (± their median deviation), ${host}`;
      return format === "markdown"
        ? `**${title}**\n\n${layOutMarkdown(table)}\n\n${rounds}; ↑ more is better, ↓ less is better.`
        : `${title}\n${rounds}\n\n${layOutTable(table)}`;
    })
    .join("\n\n");
}

/** Describes every missed bar. */
export function missedBars(results: readonly BenchResult[]): string[] {
  return results.flatMap((result) =>
    result.rows.flatMap((row) =>
      row.measures.flatMap((measure) =>
        measure.bars
          .filter((bar) => !bar.pass)
          .map(
            (bar) =>
              `${result.name} / ${row.name} / ${measure.name}: ${requirement(bar)}, measured ${bar.actualText}`,
          ),
      ),
    ),
  );
}

function requirement(bar: BarResult): string {
  return bar.of === "ours" ? `ours ${bar.text}` : bar.text;
}
