import { declareProgram, flag, HELP } from "./declaration/declaration.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { compressionEffects, hasTwoModes } from "./compressed-files.ts";

export const bzip2 = declareProgram({
  names: ["bzip2"],
  options: {
    ...HELP,
    "-1": flag,
    "-2": flag,
    "-3": flag,
    "-4": flag,
    "-5": flag,
    "-6": flag,
    "-7": flag,
    "-8": flag,
    "-9": flag,
    "-c, --stdout": flag,
    "-d, --decompress": flag,
    "-f, --force": flag,
    "-k, --keep": flag,
    "-q, --quiet": flag,
    "-s, --small": flag,
    "-t, --test": flag,
    "-v, --verbose": flag,
    "-z, --compress": flag,
  },
  operands: { rest: "read" },
  examine: (call: ParsedCall) =>
    hasTwoModes(call)
      ? "names two modes"
      : call.options.has("-c") || call.options.has("-t")
        ? []
        : compressionEffects(call.operands, ".bz2", {
            expands: call.options.has("-d"),
            keeps: call.options.has("-k"),
          }),
});
