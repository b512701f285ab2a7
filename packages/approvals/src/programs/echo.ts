import { declareProgram, flag } from "./declaration/declaration.ts";

export const echo = declareProgram({
  names: ["echo"],
  options: {
    "-e": flag,
    "-E": flag,
    "-n": flag,
  },
  operands: { rest: "data", acceptsAnyWord: true },
});
