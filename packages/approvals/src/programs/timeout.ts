import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const timeout = declareProgram({
  names: ["timeout"],
  syntax: "posix",
  options: {
    ...HELP,
    "-f, --foreground": flag,
    "-k, --kill-after": value("number"),
    "-p, --preserve-status": flag,
    "-s, --signal": value("data"),
    "-v, --verbose": flag,
  },
  operands: { first: ["number"], rest: "command", atLeast: 2 },
});
