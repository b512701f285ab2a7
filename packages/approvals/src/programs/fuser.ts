import { declareProgram, flag, flagWith } from "./declaration/declaration.ts";
import { action } from "./declaration/effect.ts";

export const fuser = declareProgram({
  names: ["fuser"],
  options: {
    "-k, --kill": flagWith({ effects: [action("process")] }),
    "-n": flag,
    "-u, --user": flag,
    "-v, --verbose": flag,
  },
  operands: { rest: /^\d+\/(?:tcp|udp)$/, atLeast: 1 },
});
