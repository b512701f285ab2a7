import { describeProgram } from "../../test/describe-program.ts";
import { rmdir } from "./rmdir.ts";

describeProgram(rmdir, {
  understood: { "a b": ["delete a", "delete b"] },
  notUnderstood: ["-p a/b", "--ignore a", "<unknown>", "*"],
});
