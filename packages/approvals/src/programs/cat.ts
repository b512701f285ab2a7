import { declareProgram, flag, HELP } from "./declaration/declaration.ts";

export const cat = declareProgram({
  names: ["cat"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-A, --show-all": flag,
    "-b, --number-nonblank": flag,
    "-e": flag,
    "-E, --show-ends": flag,
    "-n, --number": flag,
    "-s, --squeeze-blank": flag,
    "-t": flag,
    "-T, --show-tabs": flag,
    "-u": flag,
    "-v, --show-nonprinting": flag,
  },
  operands: { rest: "read" },
});
