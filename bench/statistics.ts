/**
 * The statistics of a benchmark. All are order statistics: a round that another process disturbed can move a mean
 * arbitrarily far, but hardly affects a median.
 */

export function median(values: readonly number[]): number {
  const sorted = inOrder(values);
  const upper = sorted.length >> 1;
  const lower = sorted.length % 2 === 0 ? upper - 1 : upper;
  const low = at(sorted, lower);
  // Adds half the difference, because the sum of two huge numbers would overflow.
  return low + (at(sorted, upper) - low) / 2;
}

/** Returns the smallest value that at least `fraction` of all values do not exceed (nearest rank). */
export function percentile(values: readonly number[], fraction: number): number {
  if (!(fraction > 0 && fraction <= 1))
    throw new RangeError(`a percentile lies in (0, 1], not at ${fraction}`);
  const sorted = inOrder(values);
  return at(sorted, Math.ceil(fraction * sorted.length) - 1);
}

/** Returns the median absolute deviation as a fraction of the median, which the table formats as ± %. */
export function spread(values: readonly number[]): number {
  const middle = median(values);
  const deviation = median(values.map((value) => Math.abs(value - middle)));
  return deviation === 0 ? 0 : deviation / Math.abs(middle);
}

/**
 * Returns the median of the quotients of each round, not the quotient of the medians.
 * Within a round all contestants run under the same conditions, so a lower clock rate, another process or
 * a growing heap affects both sides of a quotient and cancels out. The quotient of medians could compare a fast
 * minute of one with a slow minute of the other.
 */
export function medianRatio(numerators: readonly number[], denominators: readonly number[]): number {
  return median(ratios(numerators, denominators));
}

/** Returns the quotient of each round. */
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
