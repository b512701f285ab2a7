import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

export const nproc = declareProgram({
  names: ["nproc"],
  options: {
    ...HELP,
    "--all": flag,
    "--ignore": value("number"),
  },
});
