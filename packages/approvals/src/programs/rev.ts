import { declareProgram } from "./declaration/declaration.ts";

export const rev = declareProgram({
  names: ["rev"],
  hasHarmlessOptions: true,
  operands: { rest: "read" },
});
