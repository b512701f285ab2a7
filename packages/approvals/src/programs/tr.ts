import { declareProgram, flag, HELP } from "./declaration/declaration.ts";

export const tr = declareProgram({
  names: ["tr"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-c, -C, --complement": flag,
    "-d, --delete": flag,
    "-s, --squeeze-repeats": flag,
    "-t, --truncate-set1": flag,
  },
  operands: { first: ["data", "data"], atLeast: 1 },
});
