import { declareProgram, flag, HELP } from "./declaration/declaration.ts";

export const pwd = declareProgram({
  names: ["pwd"],
  options: {
    ...HELP,
    "-L, --logical": flag,
    "-P, --physical": flag,
  },
});
