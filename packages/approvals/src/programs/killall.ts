import { declareProgram, flag, value } from "./declaration/declaration.ts";
import { action } from "./declaration/effect.ts";

export const killall = declareProgram({
  names: ["killall"],
  options: {
    "-NUMBER": value("number"),
    "-e, --exact": flag,
    "-I, --ignore-case": flag,
    "-q, --quiet": flag,
    "-s, --signal": value("data"),
    "-v, --verbose": flag,
    "-w, --wait": flag,
  },
  operands: { rest: "data", atLeast: 1 },
  effects: [action("process")],
});
