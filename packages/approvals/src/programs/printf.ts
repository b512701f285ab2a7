import { declareProgram } from "./declaration/declaration.ts";

/** `-v` assigns a variable: not declared. */
export const printf = declareProgram({
  names: ["printf"],
  syntax: "posix",
  operands: { first: ["data"], rest: "data" },
});
