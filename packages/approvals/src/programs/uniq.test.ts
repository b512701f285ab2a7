import { describeProgram } from "../../test/describe-program.ts";
import { uniq } from "./uniq.ts";

describeProgram(uniq, {
  understood: {
    "-c": [],
    "-c in": ["read in"],
    "in out": ["read in", "write out"],
    "- out": ["write out"],
    "a*": ["read a*", "write a*"],
  },
  notUnderstood: ["*", "a b c", "--coun a", "<unknown>"],
});
