/**
 * Returns the order of the contestants in a round. The first contestant finds cold caches, and the successor of a heavy allocator
 * inherits its garbage, so both position and predecessor vary: the list is rotated every second round and reversed in odd
 * rounds. Three contestants have all six orders in six rounds. The order is not random, so that two runs of one commit do the
 * same work.
 */
export function contestantOrder(names: readonly string[], round: number): string[] {
  const shift = names.length === 0 ? 0 : (round >> 1) % names.length;
  const rotated = [...names.slice(shift), ...names.slice(0, shift)];
  return round % 2 === 0 ? rotated : rotated.toReversed();
}
