import { declareProgram, flag, HELP } from "./declaration/declaration.ts";

/** `-p` also removes parent folders: not declared. */
export const rmdir = declareProgram({
  names: ["rmdir"],
  options: {
    ...HELP,
    "--ignore-fail-on-non-empty": flag,
    "-v, --verbose": flag,
  },
  operands: { rest: "delete", atLeast: 1 },
});
