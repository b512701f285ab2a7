import { formatNumber } from "./format-number.ts";
import { median, medianRatio } from "./statistics.ts";
import type { Measure } from "./units.ts";

/** One side of a bar: exactly one of the two, in the sense in which the measure is better. */
export type Limit =
  | { readonly atLeast: number; readonly atMost?: never }
  | { readonly atMost: number; readonly atLeast?: never };

/**
 * A bar as the runner reads it. With `against` the limit is a quotient, of ÷ against, both in the measure's own
 * unit: `atLeast: 0.7` on msg/s reads "at least 70% of its speed", `atMost: 3` on ms reads "at most 3 times its
 * time". Without `against` the limit is a value in the measure's unit.
 */
export interface Bar {
  readonly measure: string;
  readonly of: string;
  readonly against?: string;
  readonly limit: Limit;
}

export interface BarResult extends Bar {
  /** The requirement in words, such as "≥ 70% of floor". */
  readonly text: string;
  /** What was measured, in the terms of the limit: a quotient with `against`, a value without. */
  readonly actual: number;
  readonly actualText: string;
  readonly pass: boolean;
}

/** `samplesOf` gives a contestant's samples of the bar's measure, one a round. */
export function evaluateBar(
  bar: Bar,
  measure: Measure,
  samplesOf: (contestant: string) => readonly number[],
): BarResult {
  const own = samplesOf(bar.of);
  const actual = bar.against === undefined ? median(own) : medianRatio(own, samplesOf(bar.against));
  return {
    ...bar,
    text: describeBar(bar, measure),
    actual,
    actualText: describeAmount(actual, bar, measure),
    // A comparison with NaN (0 ÷ 0) is false: what could not be measured does not pass.
    pass: bar.limit.atLeast === undefined ? actual <= bar.limit.atMost : actual >= bar.limit.atLeast,
  };
}

export function describeBar(bar: Bar, measure: Measure): string {
  const who = bar.of === "ours" ? "" : `${bar.of} `;
  const { atLeast, atMost } = bar.limit;
  const requirement =
    atLeast === undefined
      ? `≤ ${describeAmount(atMost, bar, measure)}`
      : `≥ ${describeAmount(atLeast, bar, measure)}`;
  return `${who}${requirement}`;
}

/** Below one a quotient reads best as a share, from one on as a multiple. */
function describeAmount(amount: number, bar: Bar, measure: Measure): string {
  if (bar.against === undefined) return `${formatNumber(amount)} ${measure.unit}`;
  if (amount < 1) return `${formatNumber(amount * 100)}% of ${bar.against}`;
  return `${formatNumber(amount)} × ${bar.against}`;
}

/** Says why a bar makes no sense for its row, or nothing. A bar that rewards the loser is always a slip. */
export function objectionToBar(
  bar: Bar,
  measures: readonly Measure[],
  contestants: readonly string[],
): string | undefined {
  const measure = measures.find(({ name }) => name === bar.measure);
  if (measure === undefined)
    return `the bar names the measure "${bar.measure}", the row has ${quoted(measures.map(({ name }) => name))}`;
  for (const name of [bar.of, bar.against]) {
    if (name !== undefined && !contestants.includes(name)) {
      return `the bar names the contestant "${name}", the row has ${quoted(contestants)}`;
    }
  }
  const { atLeast, atMost } = bar.limit;
  if (!Number.isFinite(atLeast ?? atMost))
    return `the bar on "${bar.measure}" needs a finite atLeast or atMost`;
  const rewards: Measure["better"] = atLeast === undefined ? "lower" : "higher";
  if (rewards === measure.better) return undefined;
  const right = measure.better === "higher" ? "atLeast" : "atMost";
  return `${measure.better} is better for "${measure.name}" (${measure.unit}), so its bar is an ${right}`;
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(", ");
}
