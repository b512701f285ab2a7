import { declareProgram, flag, HELP } from "./declaration/declaration.ts";

export const dir = declareProgram({
  names: ["dir"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-a": flag,
    "-l": flag,
  },
  operands: { rest: "folder" },
});
