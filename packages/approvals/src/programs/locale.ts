import { declareProgram, flag, HELP } from "./declaration/declaration.ts";

export const locale = declareProgram({
  names: ["locale"],
  options: { ...HELP, "-a, --all-locales": flag, "-m, --charmaps": flag },
  operands: { rest: "data" },
});
