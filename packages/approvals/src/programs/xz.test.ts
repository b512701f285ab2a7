import { describeProgram } from "../../test/describe-program.ts";
import { xz } from "./xz.ts";

describeProgram(xz, {
  understood: { "-T0 -9 a": ["read a", "write a.xz", "delete a"], "-dc a.xz": ["read a.xz"] },
  notUnderstood: ["-t -d a", "--files=list", "-S .x a", "--decomp a", "*", "<unknown>"],
});
