import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const cut = declareProgram({
  names: ["cut"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-b, --bytes": value("data"),
    "-c, --characters": value("data"),
    "--complement": flag,
    "-d, --delimiter": value("data"),
    "-f, --fields": value("data"),
    "-n": flag,
    "--output-delimiter": value("data"),
    "-s, --only-delimited": flag,
    "-z, --zero-terminated": flag,
  },
  operands: { rest: "read" },
});
