import { evaluateBar, type BarResult } from "./bars.ts";
import type { RowHead, SampleByMeasure } from "./row.ts";
import { median, ratios, spread } from "./statistics.ts";
import type { Measure } from "./units.ts";

export interface ContestantResult {
  readonly name: string;
  /** One number per round. */
  readonly samples: readonly number[];
  readonly median: number;
  readonly spread: number;
}

/** `ours` ÷ `against`, in the measure's own unit: above 1 is good for a speed, below 1 for a time. */
export interface RatioResult {
  readonly against: string;
  readonly rounds: readonly number[];
  /** The median of the rounds' quotients: see `medianRatio` for why not the quotient of the medians. */
  readonly median: number;
}

export interface MeasureResult extends Measure {
  readonly contestants: readonly ContestantResult[];
  readonly ratios: readonly RatioResult[];
  readonly bars: readonly BarResult[];
}

export interface RowResult {
  readonly name: string;
  readonly measures: readonly MeasureResult[];
}

export function summarizeRow(
  row: RowHead,
  samples: ReadonlyMap<string, readonly SampleByMeasure[]>,
): RowResult {
  return { name: row.name, measures: row.measures.map((measure) => summarizeMeasure(row, measure, samples)) };
}

function summarizeMeasure(
  row: RowHead,
  measure: Measure,
  samples: ReadonlyMap<string, readonly SampleByMeasure[]>,
): MeasureResult {
  const samplesOf = (contestant: string): number[] =>
    (samples.get(contestant) ?? []).map((sample) => sample[measure.name] ?? Number.NaN);
  const others = row.contestants.filter((name) => name !== "ours");
  return {
    ...measure,
    contestants: row.contestants.map((name) => {
      const own = samplesOf(name);
      return { name, samples: own, median: median(own), spread: spread(own) };
    }),
    ratios: others.map((against) => {
      const rounds = ratios(samplesOf("ours"), samplesOf(against));
      return { against, rounds, median: median(rounds) };
    }),
    bars: row.bars
      .filter((bar) => bar.measure === measure.name)
      .map((bar) => evaluateBar(bar, measure, samplesOf)),
  };
}
