import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const fold = declareProgram({
  names: ["fold"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-b, --bytes": flag,
    "-s, --spaces": flag,
    "-w, --width": value("number"),
  },
  operands: { rest: "read" },
});
