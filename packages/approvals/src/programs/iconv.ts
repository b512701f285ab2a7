import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const iconv = declareProgram({
  names: ["iconv"],
  options: {
    ...HELP,
    "-c": flag,
    "-f, --from-code": value("data"),
    "-l, --list": flag,
    "-o, --output": value("write"),
    "-s, --silent": flag,
    "-t, --to-code": value("data"),
    "--verbose": flag,
  },
  operands: { rest: "read" },
});
