import { declareProgram, flag } from "./declaration/declaration.ts";

export const typeBuiltin = declareProgram({
  names: ["type"],
  hasHarmlessOptions: true,
  options: {
    "-a": flag,
    "-f": flag,
    "-p": flag,
    "-P": flag,
    "-t": flag,
  },
  operands: { rest: "data" },
});
