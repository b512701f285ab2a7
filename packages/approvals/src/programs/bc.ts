import { declareProgram, flag, HELP } from "./declaration/declaration.ts";

/** A calculator: GNU bc can neither write files nor run programs. */
export const bc = declareProgram({
  names: ["bc"],
  options: {
    ...HELP,
    "-l, --mathlib": flag,
    "-q, --quiet": flag,
    "-s, --standard": flag,
    "-w, --warn": flag,
  },
  operands: { rest: "read" },
});
