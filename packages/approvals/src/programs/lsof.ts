import { attachedValue, declareProgram, flag, value } from "./declaration/declaration.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import type { Effect } from "./declaration/effect.ts";
import { isLiteral } from "./declaration/path-words.ts";

/** `-D` writes a cache, and host names after `@` cause lookups: not understood. */
export const lsof = declareProgram({
  names: ["lsof"],
  options: {
    "-a": flag,
    "-c": value("data"),
    "-F": attachedValue("data"),
    "-i": attachedValue("data"),
    "-l": flag,
    "-n": flag,
    "-N": flag,
    "-p": value("data"),
    "-P": flag,
    "-R": flag,
    "-s": value("data"),
    "-t": flag,
    "-u": value("data"),
    "-U": flag,
  },
  operands: { rest: "data" },
  examine: examineNames,
});

/** Files, and the address that follows a bare `-i`. */
function examineNames({ operands, options }: ParsedCall): readonly Effect[] | string {
  const addresses = options.get("-i") ?? [];
  if (![...operands, ...addresses].every((word) => isLiteral(word) && !word.text.includes("@")))
    return "an address is not a plain port or protocol";
  return [];
}
