import { declareProgram, flagWith } from "./declaration/declaration.ts";

/** `-p` searches another path: not declared. */
export const command = declareProgram({
  names: ["command"],
  syntax: "posix",
  options: {
    "-v": flagWith({ operands: { rest: "data" } }),
    "-V": flagWith({ operands: { rest: "data" } }),
  },
  operands: { rest: "command", atLeast: 1 },
});
