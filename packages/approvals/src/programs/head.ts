import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const head = declareProgram({
  names: ["head"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-NUMBER": value("number"),
    "-c, --bytes": value("number"),
    "-n, --lines": value("number"),
    "-q, --quiet, --silent": flag,
    "-v, --verbose": flag,
    "-z, --zero-terminated": flag,
  },
  operands: { rest: "read" },
});
