import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const ionice = declareProgram({
  names: ["ionice"],
  syntax: "posix",
  options: {
    ...HELP,
    "-c, --class": value("data"),
    "-n, --classdata": value("number"),
    "-t, --ignore": flag,
  },
  operands: { rest: "command" },
});
