import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const strings = declareProgram({
  names: ["strings"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-a, --all": flag,
    "-d, --data": flag,
    "-e, --encoding": value(["B", "L", "S", "b", "l", "s"]),
    "-f, --print-file-name": flag,
    "-n, --bytes": value("number"),
    "-o": flag,
    "-s, --output-separator": value("data"),
    "-t, --radix": value(["d", "o", "x"]),
    "-w, --include-all-whitespace": flag,
  },
  operands: { rest: "read" },
  // `@file` expands to the arguments in that file.
  examine: ({ operands }) =>
    operands.some(({ text }) => text?.startsWith("@")) ? "a file contains further arguments" : [],
});
