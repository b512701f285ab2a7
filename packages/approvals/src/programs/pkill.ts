import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";
import { action } from "./declaration/effect.ts";

export const pkill = declareProgram({
  names: ["pkill"],
  options: {
    ...HELP,
    "-NUMBER": value("number"),
    "-c, --count": flag,
    "-e, --echo": flag,
    "-f, --full": flag,
    "-g, --pgroup": value("data"),
    "-i, --ignore-case": flag,
    "-n, --newest": flag,
    "-o, --oldest": flag,
    "-P, --parent": value("data"),
    "--signal": value("data"),
    "-t, --terminal": value("data"),
    "-u, --euid": value("data"),
    "-U, --uid": value("data"),
    "-x, --exact": flag,
  },
  operands: { first: ["pattern"], atLeast: 1 },
  effects: [action("process")],
});
