import { declareProgram, HELP, value } from "./declaration/declaration.ts";

export const nice = declareProgram({
  names: ["nice"],
  syntax: "posix",
  options: {
    ...HELP,
    "-NUMBER": value("number"),
    "-n, --adjustment": value("number"),
  },
  operands: { rest: "command" },
});
