import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const truncate = declareProgram({
  names: ["truncate"],
  options: {
    ...HELP,
    "-c, --no-create": flag,
    "-o, --io-blocks": flag,
    "-r, --reference": value("read"),
    "-s, --size": value("data"),
  },
  operands: { rest: "write", atLeast: 1 },
});
