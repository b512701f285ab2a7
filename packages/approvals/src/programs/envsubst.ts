import { declareProgram, flag, HELP } from "./declaration/declaration.ts";

export const envsubst = declareProgram({
  names: ["envsubst"],
  hasHarmlessOptions: true,
  options: {
    ...HELP,
    "-v, --variables": flag,
  },
  operands: { first: ["data"] },
});
