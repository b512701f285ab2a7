import { declareProgram, flag, HELP } from "./declaration/declaration.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { compressionEffects, hasTwoModes } from "./compressed-files.ts";

/** `-r` works on unknown names, and `-N` and `-S` choose other ones: not declared. */
export const gzip = declareProgram({
  names: ["gzip"],
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
    "--best": flag,
    "-c, --stdout, --to-stdout": flag,
    "-d, --decompress, --uncompress": flag,
    "-f, --force": flag,
    "--fast": flag,
    "-k, --keep": flag,
    "-l, --list": flag,
    "-n, --no-name": flag,
    "-q, --quiet": flag,
    "-t, --test": flag,
    "-v, --verbose": flag,
  },
  operands: { rest: "read" },
  examine: (call: ParsedCall) =>
    hasTwoModes(call)
      ? "names two modes"
      : call.options.has("-c") || call.options.has("-l") || call.options.has("-t")
        ? []
        : compressionEffects(call.operands, ".gz", {
            expands: call.options.has("-d"),
            keeps: call.options.has("-k"),
          }),
});
