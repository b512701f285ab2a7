import { describeProgram } from "../../test/describe-program.ts";
import { shuf } from "./shuf.ts";

describeProgram(shuf, {
  understood: { "-n 5 a": ["read a"], "-o out in": ["write out", "read in"], "-i 1-10": [] },
  notUnderstood: ["--outp=x a", "*", "-x a"],
});
