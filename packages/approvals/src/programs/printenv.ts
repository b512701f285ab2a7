import { declareProgram, flag, HELP } from "./declaration/declaration.ts";

export const printenv = declareProgram({
  names: ["printenv"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-0, --null": flag,
  },
  operands: { rest: "data" },
});
