import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const realpath = declareProgram({
  names: ["realpath"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-e, --canonicalize-existing": flag,
    "-L, --logical": flag,
    "-m, --canonicalize-missing": flag,
    "-P, --physical": flag,
    "-q, --quiet": flag,
    "--relative-base": value("read"),
    "--relative-to": value("read"),
    "-s, --strip, --no-symlinks": flag,
    "-z, --zero": flag,
  },
  operands: { rest: "read" },
});
