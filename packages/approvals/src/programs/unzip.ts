import { declareProgram, flag, value } from "./declaration/declaration.ts";
import { action, type Effect } from "./declaration/effect.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import { literal } from "./declaration/word.ts";
import { LISTED_NAME } from "./zip.ts";

/** `-:` allows names outside the folder: not declared. */
export const unzip = declareProgram({
  names: ["unzip"],
  options: {
    "-1": flag,
    "-a": flag,
    "-C": flag,
    "-d": value("write"),
    "-j": flag,
    "-l": flag,
    "-L": flag,
    "-n": flag,
    "-o": flag,
    "-p": flag,
    "-P": value("data"),
    "-q": flag,
    "-t": flag,
    "-u": flag,
    "-v": flag,
    "-x": value(LISTED_NAME),
    "-z": flag,
    "-Z": flag,
  },
  operands: { first: ["read"], rest: "data", atLeast: 1 },
  examine: ({ options, operands }: ParsedCall): readonly Effect[] | string => {
    if (operands[0]?.isGlob === true) return "the archive is only known at run time";
    if (LISTING.some((name) => options.has(name))) return [];
    return options.has("-d") ? [action("unpack")] : [action("unpack"), { kind: "write", path: literal(".") }];
  },
});

const LISTING = ["-l", "-p", "-t", "-v", "-z", "-Z"];
