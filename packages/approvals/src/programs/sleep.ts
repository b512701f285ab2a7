import { declareProgram, HELP } from "./declaration/declaration.ts";

export const sleep = declareProgram({
  names: ["sleep"],
  options: {
    ...HELP,
  },
  operands: { rest: "number", atLeast: 1 },
});
