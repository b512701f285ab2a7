import { readOptions, type Options } from "./options.ts";
import type { Value } from "./value.ts";

/** git's own options, which come before the subcommand. */
export function gitSubcommand(args: readonly Value[]): {
  verb: Value | undefined;
  rest: readonly Value[];
  outer: Options;
} {
  const outer = readOptions(args, {
    short: "Cc",
    long: [
      "--git-dir",
      "--work-tree",
      "--namespace",
      "--exec-path",
      "--config-env",
      "--super-prefix",
      "--attr-source",
    ],
    stopsAtOperand: true,
  });
  const [verb, ...rest] = outer.operands;
  return { verb, rest, outer };
}
