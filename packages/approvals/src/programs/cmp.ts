import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const cmp = declareProgram({
  names: ["cmp"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-b, --print-bytes": flag,
    "-i, --ignore-initial": value("data"),
    "-l, --verbose": flag,
    "-n, --bytes": value("number"),
    "-s, --quiet, --silent": flag,
  },
  operands: { first: ["read", "read", "number", "number"], atLeast: 1 },
});
