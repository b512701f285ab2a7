import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const cksum = declareProgram({
  names: ["cksum"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-a, --algorithm": value("data"),
    "-c, --check": flag,
    "--debug": flag,
    "--ignore-missing": flag,
    "-l, --length": value("number"),
    "--quiet": flag,
    "--status": flag,
    "--strict": flag,
    "--tag": flag,
    "--untagged": flag,
    "-w, --warn": flag,
    "-z, --zero": flag,
  },
  operands: { rest: "read" },
});
