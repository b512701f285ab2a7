import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const paste = declareProgram({
  names: ["paste"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-d, --delimiters": value("data"),
    "-s, --serial": flag,
    "-z, --zero-terminated": flag,
  },
  operands: { rest: "read" },
});
