/**
 * The few numbers a benchmark is judged by. All are order statistics: one round that another process
 * disturbed moves a mean as far as it likes, and a median hardly at all.
 */

export function median(values: readonly number[]): number {
  const sorted = inOrder(values);
  const upper = sorted.length >> 1;
  const lower = sorted.length % 2 === 0 ? upper - 1 : upper;
  const low = at(sorted, lower);
  // Half the gap is added, not the sum halved: the sum of two huge numbers overflows.
  return low + (at(sorted, upper) - low) / 2;
}

/** The smallest value that at least `fraction` of all values do not exceed (nearest rank: always a value that was seen). */
export function percentile(values: readonly number[], fraction: number): number {
  if (!(fraction > 0 && fraction <= 1))
    throw new RangeError(`a percentile lies in (0, 1], not at ${fraction}`);
  const sorted = inOrder(values);
  return at(sorted, Math.ceil(fraction * sorted.length) - 1);
}

/** The median distance from the median (MAD), as a fraction of the median: what the table shows as ± %. */
export function spread(values: readonly number[]): number {
  const middle = median(values);
  const deviation = median(values.map((value) => Math.abs(value - middle)));
  return deviation === 0 ? 0 : deviation / Math.abs(middle);
}

/**
 * The quotient of each round, then the median of these; not the quotient of the two medians.
 * Within a round all contestants meet the same machine, so a clock that sinks, a neighbour that wakes up or
 * a heap that grows changes both sides of one quotient and cancels. The quotient of medians may set a fast
 * minute of the one against a slow minute of the other.
 */
export function medianRatio(numerators: readonly number[], denominators: readonly number[]): number {
  return median(ratios(numerators, denominators));
}

/** The quotient of each round, in the order of the rounds. */
export function ratios(numerators: readonly number[], denominators: readonly number[]): number[] {
  if (numerators.length !== denominators.length) {
    throw new RangeError(`${numerators.length} rounds cannot be paired with ${denominators.length}`);
  }
  return numerators.map((numerator, round) => numerator / (denominators[round] ?? Number.NaN));
}

function inOrder(values: readonly number[]): Float64Array {
  if (values.length === 0) throw new RangeError("no values: there is nothing to take a median of");
  return Float64Array.from(values).toSorted();
}

function at(sorted: Float64Array, index: number): number {
  return sorted[index] ?? Number.NaN;
}
