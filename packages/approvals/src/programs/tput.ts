import { declareProgram } from "./declaration/declaration.ts";

export const tput = declareProgram({
  names: ["tput"],
  operands: { first: [["bold", "civis", "clear", "cnorm", "colors", "cols", "lines", "sgr0"]], atLeast: 1 },
});
