import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { compressionEffects, hasTwoModes } from "./compressed-files.ts";

export const zstd = declareProgram({
  names: ["zstd"],
  options: {
    ...HELP,
    "-NUMBER": value("number"),
    "-c, --stdout": flag,
    "-d, --decompress": flag,
    "-D": value("read"),
    "-f, --force": flag,
    "-k, --keep": flag,
    "-l, --list": flag,
    "--long": flag,
    "--no-progress": flag,
    "-o": value("output"),
    "-q, --quiet": flag,
    "--rm": flag,
    "-t, --test": flag,
    "-T": value("number"),
    "--ultra": flag,
    "-v, --verbose": flag,
    "-z, --compress": flag,
  },
  operands: { rest: "read" },
  examine: (call: ParsedCall) =>
    hasTwoModes(call) || (call.options.has("-o") && call.options.has("--rm"))
      ? "names two modes"
      : call.options.has("-c") || call.options.has("-l") || call.options.has("-t") || call.options.has("-o")
        ? []
        : compressionEffects(call.operands, ".zst", {
            expands: call.options.has("-d"),
            keeps: !call.options.has("--rm"),
          }),
});
