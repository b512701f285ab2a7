import { declareProgram, flag } from "./declaration/declaration.ts";

export const which = declareProgram({
  names: ["which"],
  hasHarmlessOptions: true,
  options: {
    "-a": flag,
    "-s": flag,
  },
  operands: { rest: "data" },
});
