import { declareProgram, flag, flagWith, value } from "./declaration/declaration.ts";
import { action } from "./declaration/effect.ts";
import { examineRemoteCopy } from "./remote-copy.ts";
import { HARMLESS_SSH_OPTION } from "./ssh-host.ts";

/** `-S` runs a program, and `-F` and `-J` read options or connect to other machines: not declared. */
export const scp = declareProgram({
  names: ["scp"],
  options: {
    "-3": flag,
    "-4": flag,
    "-6": flag,
    "-B": flag,
    "-C": flag,
    "-i": value("read"),
    "-l": value("number"),
    "-o": value(HARMLESS_SSH_OPTION),
    "-p": flag,
    "-P": value("number"),
    "-q": flag,
    "-r": flagWith({ effects: [action("unpack")] }),
    "-v": flag,
  },
  operands: { rest: "data", atLeast: 2 },
  examine: examineRemoteCopy,
});
