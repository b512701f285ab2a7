import { describeProgram } from "../../test/describe-program.ts";
import { join } from "./join.ts";

describeProgram(join, {
  understood: { "-t, -1 2 -2 1 a b": ["read a", "read b"] },
  notUnderstood: ["a b c", "--head a b", "-x a b"],
});
