import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const shuf = declareProgram({
  names: ["shuf"],
  options: {
    ...HELP,
    "-e, --echo": flag,
    "-i, --input-range": value("data"),
    "-n, --head-count": value("number"),
    "-o, --output": value("write"),
    "-r, --repeat": flag,
    "--random-source": value("read"),
    "-z, --zero-terminated": flag,
  },
  operands: { rest: "read" },
});
