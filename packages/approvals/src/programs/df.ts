import { attachedValue, declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const df = declareProgram({
  names: ["df"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-a, --all": flag,
    "-B, --block-size": value("data"),
    "-h, --human-readable": flag,
    "-H, --si": flag,
    "-i, --inodes": flag,
    "-k": flag,
    "-l, --local": flag,
    "--no-sync": flag,
    "--output": attachedValue("data"),
    "-P, --portability": flag,
    "-t, --type": value("data"),
    "-T, --print-type": flag,
    "--total": flag,
    "-v": flag,
    "-x, --exclude-type": value("data"),
  },
  operands: { rest: "read" },
});
