import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const tac = declareProgram({
  names: ["tac"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-b, --before": flag,
    "-r, --regex": flag,
    "-s, --separator": value("pattern"),
  },
  operands: { rest: "read" },
});
