import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import type { Effect } from "./declaration/effect.ts";
import { literal } from "./declaration/word.ts";

export const csplit = declareProgram({
  names: ["csplit"],
  options: {
    ...HELP,
    "-f, --prefix": value("data"),
    "-k, --keep-files": flag,
    "-n, --digits": value("number"),
    "-s, --quiet, --silent": flag,
    "--suppress-matched": flag,
    "-z, --elide-empty-files": flag,
  },
  operands: { first: ["read"], rest: "pattern", atLeast: 2 },
  examine: ({ options }: ParsedCall): readonly Effect[] | string => {
    const prefixes = options.get("-f") ?? [literal("xx")];
    if (prefixes.some(({ text }) => text === undefined)) return "the prefix is only known at run time";
    return prefixes.map(({ text }) => ({ kind: "write", path: { text: `${text}*`, isGlob: true } }));
  },
});
