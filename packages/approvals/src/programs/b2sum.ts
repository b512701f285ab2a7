import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const b2sum = declareProgram({
  names: ["b2sum"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-b, --binary": flag,
    "-c, --check": flag,
    "--ignore-missing": flag,
    "-l, --length": value("number"),
    "--quiet": flag,
    "--status": flag,
    "--strict": flag,
    "-t, --text": flag,
    "--tag": flag,
    "-w, --warn": flag,
    "-z, --zero": flag,
  },
  operands: { rest: "read" },
});
