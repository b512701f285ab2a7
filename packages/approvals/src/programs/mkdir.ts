import { PLAIN_MODE } from "./chmod.ts";
import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const mkdir = declareProgram({
  names: ["mkdir"],
  options: {
    ...HELP,
    "-m, --mode": value(PLAIN_MODE),
    "-p, --parents": flag,
    "-v, --verbose": flag,
  },
  operands: { rest: "write", atLeast: 1 },
});
