import type { Contestant } from "../../row.ts";

/** For what takes too long to repeat, and is not judged by a quotient: taken in the first round, shown in all. */
export function once<Context, Sample>(take: Contestant<Context, Sample>): Contestant<Context, Sample> {
  let taken: Promise<Sample> | undefined;
  return (context, signal) => (taken ??= take(context, signal));
}
