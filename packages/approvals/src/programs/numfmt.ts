import { attachedValue, declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const numfmt = declareProgram({
  names: ["numfmt"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-d, --delimiter": value("data"),
    "--debug": flag,
    "--field": value("data"),
    "--format": value("data"),
    "--from": value("data"),
    "--from-unit": value("number"),
    "--grouping": flag,
    "--header": attachedValue("number"),
    "--invalid": value("data"),
    "--padding": value("number"),
    "--round": value("data"),
    "--suffix": value("data"),
    "--to": value("data"),
    "--to-unit": value("number"),
    "-z, --zero-terminated": flag,
  },
  operands: { rest: "data" },
});
