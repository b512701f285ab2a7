import { declareProgram, flag, HELP } from "./declaration/declaration.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { compressionEffects, hasTwoModes } from "./compressed-files.ts";

export const gunzip = declareProgram({
  names: ["gunzip"],
  options: {
    ...HELP,
    "-c, --stdout, --to-stdout": flag,
    "-f, --force": flag,
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
        : compressionEffects(call.operands, ".gz", { expands: true, keeps: call.options.has("-k") }),
});
