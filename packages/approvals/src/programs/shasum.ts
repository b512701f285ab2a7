import { declareProgram, flag, value } from "./declaration/declaration.ts";

export const shasum = declareProgram({
  names: ["shasum"],
  options: {
    "-a, --algorithm": value(["1", "224", "256", "384", "512"]),
    "-b, --binary": flag,
    "-c, --check": flag,
    "-s, --status": flag,
    "-t, --text": flag,
  },
  operands: { rest: "read" },
});
