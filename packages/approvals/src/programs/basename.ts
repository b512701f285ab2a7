import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const basename = declareProgram({
  names: ["basename"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-a, --multiple": flag,
    "-s, --suffix": value("data"),
    "-z, --zero": flag,
  },
  operands: { rest: "data" },
});
