import type { Contestant } from "../../row.ts";

/**
 * For measurements that take too long to repeat and are not judged by a quotient: taken in the first round
 * and reported in all.
 */
export function once<Context, Sample>(take: Contestant<Context, Sample>): Contestant<Context, Sample> {
  let taken: Promise<Sample> | undefined;
  return (context, signal) => (taken ??= take(context, signal));
}
