import { declareProgram } from "./declaration/declaration.ts";

/** Calculates with numbers and texts. None of its operators has an effect. */
export const expr = declareProgram({
  names: ["expr"],
  operands: { rest: "data", acceptsAnyWord: true },
});
