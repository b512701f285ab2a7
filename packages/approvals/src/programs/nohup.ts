import { declareProgram, HELP } from "./declaration/declaration.ts";
import { literal } from "./declaration/word.ts";

/** Writes `nohup.out` if its output is a terminal. */
export const nohup = declareProgram({
  names: ["nohup"],
  syntax: "posix",
  options: {
    ...HELP,
  },
  operands: { rest: "command", atLeast: 1 },
  effects: [{ kind: "write", path: literal("nohup.out") }],
});
