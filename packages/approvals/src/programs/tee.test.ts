import { describeProgram } from "../../test/describe-program.ts";
import { tee } from "./tee.ts";

describeProgram(tee, {
  understood: {
    "": [],
    "-a log.txt": ["write log.txt"],
    "a b": ["write a", "write b"],
    "-": ["write -"],
    "logs/*": ["write logs/*"],
  },
  notUnderstood: ["--appe a", "*", "<unknown>", "-x a"],
});
