import { describeProgram } from "../../test/describe-program.ts";
import { comm } from "./comm.ts";

describeProgram(comm, {
  understood: { "-1 -3 a b": ["read a", "read b"], "-2 - b": ["read b"], "-12 a b": ["read a", "read b"] },
  notUnderstood: ["a", "a b c", "--output=x a b"],
});
