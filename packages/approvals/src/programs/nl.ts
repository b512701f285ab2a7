import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const nl = declareProgram({
  names: ["nl"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-b, --body-numbering": value("pattern"),
    "-d, --section-delimiter": value("data"),
    "-f, --footer-numbering": value("pattern"),
    "-h, --header-numbering": value("pattern"),
    "-i, --line-increment": value("number"),
    "-l, --join-blank-lines": value("number"),
    "-n, --number-format": value(["ln", "rn", "rz"]),
    "-p, --no-renumber": flag,
    "-s, --number-separator": value("data"),
    "-v, --starting-line-number": value("number"),
    "-w, --number-width": value("number"),
  },
  operands: { rest: "read" },
});
