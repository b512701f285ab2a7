import { declareProgram, flag, value } from "./declaration/declaration.ts";

export const pidof = declareProgram({
  names: ["pidof"],
  hasHarmlessOptions: true,
  options: {
    "-c": flag,
    "-o": value("data"),
    "-q": flag,
    "-s": flag,
    "-x": flag,
  },
  operands: { rest: "data" },
});
