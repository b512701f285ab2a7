/** The median and the 99th percentile. */
export function percentiles(times: readonly number[]): { p50: number; p99: number } {
  const sorted = times.toSorted((left, right) => left - right);
  const at = (part: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  return { p50: at(0.5), p99: at(0.99) };
}

/** Runs something several times sequentially and times each run. */
export async function timed(
  times: number,
  run: (index: number) => Promise<unknown>,
): Promise<{ p50: number; p99: number }> {
  const taken: number[] = [];
  for (let index = 0; index < times; index += 1) {
    const start = performance.now();
    await run(index);
    taken.push(performance.now() - start);
  }
  return percentiles(taken);
}
