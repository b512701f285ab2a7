import { declareProgram, flag, HELP } from "./declaration/declaration.ts";

export const readlink = declareProgram({
  names: ["readlink"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-e, --canonicalize-existing": flag,
    "-f, --canonicalize": flag,
    "-m, --canonicalize-missing": flag,
    "-n, --no-newline": flag,
    "-q, --quiet": flag,
    "-s, --silent": flag,
    "-v, --verbose": flag,
    "-z, --zero": flag,
  },
  operands: { rest: "read" },
});
