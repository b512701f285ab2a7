import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const mkdir = declareProgram({
  names: ["mkdir"],
  options: {
    ...HELP,
    "-m, --mode": value("data"),
    "-p, --parents": flag,
    "-v, --verbose": flag,
  },
  operands: { rest: "write", atLeast: 1 },
});
