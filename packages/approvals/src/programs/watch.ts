import { attachedValue, declareProgram, flag, flagWith, HELP, value } from "./declaration/declaration.ts";
import type { ParsedCall } from "./declaration/parsed-call.ts";
import type { Effect } from "./declaration/effect.ts";
import { literal } from "./declaration/word.ts";
import { isLiteral } from "./declaration/path-words.ts";

/** Joins its operands and passes them to a shell. */
export const watch = declareProgram({
  names: ["watch"],
  syntax: "posix",
  options: {
    ...HELP,
    "-b, --beep": flag,
    "-c, --color": flag,
    "-d": flag,
    "--differences": attachedValue(["permanent"]),
    "-e, --errexit": flag,
    "-g, --chgexit": flag,
    "-n, --interval": value("number"),
    "-p, --precise": flag,
    "-q, --equexit": value("number"),
    "-t, --no-title": flag,
    "-w, --no-wrap": flag,
    "-x, --exec": flagWith({ operands: { rest: "command", atLeast: 1 } }),
  },
  operands: { rest: "data", atLeast: 1 },
  examine: ({ operands, options }: ParsedCall): readonly Effect[] | string => {
    if (options.has("-x")) return [];
    if (!operands.every(isLiteral)) return "the command is only known at run time";
    return [{ kind: "shell", script: literal(operands.map(({ text }) => text).join(" ")) }];
  },
});
