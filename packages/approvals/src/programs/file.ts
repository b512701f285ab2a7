import { declareProgram, flag, HELP, value } from "./declaration/declaration.ts";

/** `-C` writes a compiled magic file, and `-z` may run a decompressor: not declared. */
export const file = declareProgram({
  names: ["file"],
  options: {
    ...HELP,
    "-0, --print0": flag,
    "--apple": flag,
    "-b, --brief": flag,
    "-e, --exclude": value("data"),
    "--extension": flag,
    "-F, --separator": value("data"),
    "-h, --no-dereference": flag,
    "-i, --mime": flag,
    "-k, --keep-going": flag,
    "-L, --dereference": flag,
    "--mime-encoding": flag,
    "--mime-type": flag,
    "-n, --no-buffer": flag,
    "-N, --no-pad": flag,
    "-r, --raw": flag,
    "-s, --special-files": flag,
  },
  operands: { rest: "read", atLeast: 1 },
});
