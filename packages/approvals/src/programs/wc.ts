import { declareProgram, flag, HELP } from "./declaration/declaration.ts";

export const wc = declareProgram({
  names: ["wc"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-c, --bytes": flag,
    "-l, --lines": flag,
    "-L, --max-line-length": flag,
    "-m, --chars": flag,
    "-w, --words": flag,
  },
  operands: { rest: "read" },
});
