import { declareProgram, flag, value } from "./declaration/declaration.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import type { Effect } from "./declaration/effect.ts";
import { literal } from "./declaration/word.ts";
import { isLiteral } from "./declaration/path-words.ts";

/** `-T` with `-TT` runs a program, `-m` deletes the sources, and `-@` reads names: not declared. */
export const zip = declareProgram({
  names: ["zip"],
  options: {
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
    "-D": flag,
    "-i": value("pattern"),
    "-j": flag,
    "-q": flag,
    "-r": flag,
    "-u": flag,
    "-v": flag,
    "-x": value("pattern"),
    "-X": flag,
    "-y": flag,
  },
  operands: { first: ["output"], rest: "read", atLeast: 1 },
  examine: ({ operands: [archive] }: ParsedCall): readonly Effect[] | string => {
    if (!isLiteral(archive)) return "the archive is only known at run time";
    return archive.text === "-" || /\.[^/]*$/.test(archive.text)
      ? []
      : [{ kind: "write", path: literal(`${archive.text}.zip`) }];
  },
});
