import { declareProgram, flag, HELP } from "./declaration/declaration.ts";

export const setsid = declareProgram({
  names: ["setsid"],
  syntax: "posix",
  options: {
    ...HELP,
    "-c, --ctty": flag,
    "-f, --fork": flag,
    "-w, --wait": flag,
  },
  operands: { rest: "command", atLeast: 1 },
});
