import { declareProgram, flag, HELP } from "./declaration/declaration.ts";

export const id = declareProgram({
  names: ["id"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-a": flag,
    "-g, --group": flag,
    "-G, --groups": flag,
    "-n, --name": flag,
    "-r, --real": flag,
    "-u, --user": flag,
    "-z, --zero": flag,
  },
  operands: { rest: "data" },
});
