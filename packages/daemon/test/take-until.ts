/** Reads values until one satisfies the predicate, and stops the iteration. Rejects if the iteration ends before. */
export async function takeUntil<Value>(
  values: AsyncIterable<Value>,
  isLast: (value: Value) => boolean,
): Promise<Value[]> {
  const taken: Value[] = [];
  for await (const value of values) {
    taken.push(value);
    if (isLast(value)) return taken;
  }
  throw new Error(`The iteration ended after ${taken.length} values.`);
}
