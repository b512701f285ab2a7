import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const column = declareProgram({
  names: ["column"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-c, --output-width": value("number"),
    "-d, --table-noheadings": flag,
    "-e, --table-header-repeat": flag,
    "-J, --json": flag,
    "-L, --keep-empty-lines": flag,
    "-n, --table-name": value("data"),
    "-N, --table-columns": value("data"),
    "-o, --output-separator": value("data"),
    "-R, --table-right": value("data"),
    "-s, --separator": value("data"),
    "-t, --table": flag,
    "-x, --fillrows": flag,
  },
  operands: { rest: "read" },
});
