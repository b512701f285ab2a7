/**
 * Who goes when in a round. Whoever goes first finds the caches cold, and whoever follows a heavy allocator
 * inherits its garbage, so both the place and the predecessor change: rotated by one every second round, and
 * backwards in the odd ones. Three contestants go through all six orders in six rounds. Fixed, not random: two
 * runs of one commit then do the same work in the same order.
 */
export function contestantOrder(names: readonly string[], round: number): string[] {
  const shift = names.length === 0 ? 0 : (round >> 1) % names.length;
  const rotated = [...names.slice(shift), ...names.slice(0, shift)];
  return round % 2 === 0 ? rotated : rotated.toReversed();
}
