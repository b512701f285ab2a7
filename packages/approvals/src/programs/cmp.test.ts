import { describeProgram } from "../../test/describe-program.ts";
import { cmp } from "./cmp.ts";

describeProgram(cmp, {
  understood: { "-s a b": ["read a", "read b"], "a b 10 20": ["read a", "read b"] },
  notUnderstood: ["", "a b c", "--quie a b"],
});
