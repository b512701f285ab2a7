import { declareProgram, flag, HELP } from "./declaration/declaration.ts";

export const dirname = declareProgram({
  names: ["dirname"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-z, --zero": flag,
  },
  operands: { rest: "data" },
});
