import { declareProgram } from "./declaration/declaration.ts";

/** Calculates with numbers and texts; it has no operator with an effect. */
export const expr = declareProgram({
  names: ["expr"],
  operands: { rest: "data", acceptsAnyWord: true },
});
