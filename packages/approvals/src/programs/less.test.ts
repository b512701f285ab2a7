import { describeProgram } from "../../test/describe-program.ts";
import { less, more } from "./less.ts";

for (const program of [less, more]) {
  describeProgram(program, {
    understood: { "-R a.log": ["action project-code", "read a.log"] },
    notUnderstood: ["-o log a", "-k keys a", "-K", "--log-file=x a", "*"],
  });
}
