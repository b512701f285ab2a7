import { attachedValue, declareProgram, flag, HELP } from "./declaration/declaration.ts";

export const tee = declareProgram({
  names: ["tee"],
  options: {
    ...HELP,
    "-a, --append": flag,
    "-i, --ignore-interrupts": flag,
    "--output-error": attachedValue("data"),
    "-p": flag,
  },
  operands: { rest: "write" },
});
