import { declareProgram, HELP, value } from "./declaration/declaration.ts";

export const stdbuf = declareProgram({
  names: ["stdbuf"],
  syntax: "posix",
  options: {
    ...HELP,
    "-e, --error": value("data"),
    "-i, --input": value("data"),
    "-o, --output": value("data"),
  },
  operands: { rest: "command", atLeast: 1 },
});
