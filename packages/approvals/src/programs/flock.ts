import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

/** `-c` after the file is part of the command, which is then unknown. */
export const flock = declareProgram({
  names: ["flock"],
  syntax: "posix",
  options: {
    ...HELP,
    "-e, -x, --exclusive": flag,
    "-E, --conflict-exit-code": value("number"),
    "-F, --no-fork": flag,
    "-n, --nonblock": flag,
    "-o, --close": flag,
    "-s, --shared": flag,
    "-u, --unlock": flag,
    "-w, --timeout": value("number"),
  },
  operands: { first: ["write"], rest: "command", atLeast: 2 },
});
