import { attachedValue, declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const tail = declareProgram({
  names: ["tail"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-NUMBER": value("number"),
    "-c, --bytes": value("number"),
    "-f": flag,
    "-F": flag,
    "--follow": attachedValue(["descriptor", "name"]),
    "--max-unchanged-stats": value("number"),
    "-n, --lines": value("number"),
    "--pid": value("number"),
    "-q, --quiet, --silent": flag,
    "--retry": flag,
    "-s, --sleep-interval": value("number"),
    "-v, --verbose": flag,
    "-z, --zero-terminated": flag,
  },
  operands: { rest: "read" },
});
