import { attachedValue, declareProgram, flag, flagWith, HELP } from "./declaration/declaration.ts";

/** `--no-preserve-root` is not declared. */
export const rm = declareProgram({
  names: ["rm"],
  options: {
    ...HELP,
    "-d, --dir": flag,
    "-f, --force": flag,
    "-i": flag,
    "-I": flag,
    "--interactive": attachedValue("data"),
    "--one-file-system": flag,
    "--preserve-root": attachedValue(["all"]),
    "-r, -R, --recursive": flagWith({ operands: { rest: "delete-tree", atLeast: 1 } }),
    "-v, --verbose": flag,
  },
  operands: { rest: "delete", atLeast: 1 },
});
