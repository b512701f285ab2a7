import { attachedValue, declareProgram, flag, HELP, value } from "./declaration/declaration.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import type { Effect } from "./declaration/effect.ts";
import { literal } from "./declaration/word.ts";

/** `--filter` runs a command: not declared. */
export const split = declareProgram({
  names: ["split"],
  options: {
    ...HELP,
    "-a, --suffix-length": value("number"),
    "--additional-suffix": value("data"),
    "-b, --bytes": value("number"),
    "-C, --line-bytes": value("number"),
    "-d": flag,
    "-e, --elide-empty-files": flag,
    "--hex-suffixes": attachedValue("number"),
    "-l, --lines": value("number"),
    "-n, --number": value("data"),
    "--numeric-suffixes": attachedValue("number"),
    "-t, --separator": value("data"),
    "-u, --unbuffered": flag,
    "--verbose": flag,
    "-x": flag,
  },
  operands: { first: ["read", "data"] },
  examine: ({ operands }: ParsedCall): readonly Effect[] | string => {
    const [, prefix = literal("x")] = operands;
    if (operands.some(({ isGlob }) => isGlob === true) || prefix.text === undefined)
      return "the prefix is only known at run time";
    return [{ kind: "write", path: { text: `${prefix.text}*`, isGlob: true } }];
  },
});
