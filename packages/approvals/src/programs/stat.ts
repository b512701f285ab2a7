import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const stat = declareProgram({
  names: ["stat"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-c, --format": value("data"),
    "--cached": value("data"),
    "-f, --file-system": flag,
    "-L, --dereference": flag,
    "--printf": value("data"),
    "-t, --terse": flag,
  },
  operands: { rest: "read", atLeast: 1 },
});
