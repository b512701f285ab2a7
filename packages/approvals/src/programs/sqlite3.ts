import { declareProgram, flag, value } from "./declaration/declaration.ts";
import { action } from "./declaration/effect.ts";

/** Its scripts and dot commands write files and run programs, so all of them count as project code. */
export const sqlite3 = declareProgram({
  names: ["sqlite3"],
  syntax: "words",
  options: {
    "-batch": flag,
    "-column": flag,
    "-csv": flag,
    "-header": flag,
    "-json": flag,
    "-line": flag,
    "-list": flag,
    "-noheader": flag,
    "-readonly": flag,
    "-separator": value("data"),
    "-table": flag,
  },
  operands: { first: ["read-write"], rest: "code", atLeast: 1 },
  effects: [action("project-code")],
});
