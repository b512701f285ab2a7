import { declareProgram, flag, HELP } from "./declaration/declaration.ts";

export const uptime = declareProgram({
  names: ["uptime"],
  options: {
    ...HELP,
    "-p, --pretty": flag,
    "-s, --since": flag,
  },
});
