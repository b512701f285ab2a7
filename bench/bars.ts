import { formatNumber } from "./format-number.ts";
import { median, medianRatio } from "./statistics.ts";
import type { Measure } from "./units.ts";

/** The limit of a bar: exactly one of the two, depending on which direction is better. */
export type Limit =
  | { readonly atLeast: number; readonly atMost?: never }
  | { readonly atMost: number; readonly atLeast?: never };

/**
 * A requirement. With `against` the limit is the quotient of ÷ against: `atLeast: 0.7` on msg/s means "at least 70% of its speed",
 * `atMost: 3` on ms means "at most 3 times its time". Without `against` the limit is a value in the measure's unit.
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
  /** The measured quotient (with `against`) or value. */
  readonly actual: number;
  readonly actualText: string;
  readonly pass: boolean;
}

/** Evaluates a bar. `samplesOf` returns a contestant's samples, one per round. */
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
    // A comparison with NaN (0 ÷ 0) is false, so an unmeasured bar does not pass.
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

/** Formats a quotient below 1 as a percentage, otherwise as a multiple. */
function describeAmount(amount: number, bar: Bar, measure: Measure): string {
  if (bar.against === undefined) return `${formatNumber(amount)} ${measure.unit}`;
  if (amount < 1) return `${formatNumber(amount * 100)}% of ${bar.against}`;
  return `${formatNumber(amount)} × ${bar.against}`;
}

/** Describes why a bar is invalid for its row. A bar in the wrong direction is always a mistake. */
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
