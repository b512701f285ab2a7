import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const time = declareProgram({
  names: ["time"],
  syntax: "posix",
  options: {
    ...HELP,
    "-a, --append": flag,
    "-f, --format": value("data"),
    "-o, --output": value("write"),
    "-p, --portability": flag,
    "-q, --quiet": flag,
    "-v, --verbose": flag,
  },
  operands: { rest: "command" },
});
