import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { compressionEffects, hasTwoModes } from "./compressed-files.ts";

export const xz = declareProgram({
  names: ["xz"],
  options: {
    ...HELP,
    "-0": flag,
    "-1": flag,
    "-2": flag,
    "-3": flag,
    "-4": flag,
    "-5": flag,
    "-6": flag,
    "-7": flag,
    "-8": flag,
    "-9": flag,
    "-c, --stdout, --to-stdout": flag,
    "-d, --decompress, --uncompress": flag,
    "-e, --extreme": flag,
    "-f, --force": flag,
    "-k, --keep": flag,
    "-l, --list": flag,
    "-q, --quiet": flag,
    "-t, --test": flag,
    "-T, --threads": value("number"),
    "-v, --verbose": flag,
    "-z, --compress": flag,
  },
  operands: { rest: "read" },
  examine: (call: ParsedCall) =>
    hasTwoModes(call)
      ? "names two modes"
      : call.options.has("-c") || call.options.has("-l") || call.options.has("-t")
        ? []
        : compressionEffects(call.operands, ".xz", {
            expands: call.options.has("-d"),
            keeps: call.options.has("-k"),
          }),
});
