import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const seq = declareProgram({
  names: ["seq"],
  options: {
    ...HELP,
    "-f, --format": value("data"),
    "-s, --separator": value("data"),
    "-w, --equal-width": flag,
  },
  operands: { rest: "number", atLeast: 1 },
});
