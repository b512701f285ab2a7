import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const touch = declareProgram({
  names: ["touch"],
  options: {
    ...HELP,
    "-a": flag,
    "-c, --no-create": flag,
    "-d, --date": value("data"),
    "-f": flag,
    "-h, --no-dereference": flag,
    "-m": flag,
    "-r, --reference": value("read"),
    "-t": value("data"),
    "--time": value("data"),
  },
  operands: { rest: "write", atLeast: 1 },
});
