import { describeProgram } from "../../test/describe-program.ts";
import { touch } from "./touch.ts";

describeProgram(touch, {
  understood: {
    "a b": ["write a", "write b"],
    "-d yesterday a": ["write a"],
    "-r ref a": ["read ref", "write a"],
  },
  notUnderstood: ["--ref=x a", "<unknown>", "*", ""],
});
