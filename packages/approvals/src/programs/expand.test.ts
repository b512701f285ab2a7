import { describeProgram } from "../../test/describe-program.ts";
import { expand, unexpand } from "./expand.ts";

for (const program of [expand, unexpand]) {
  describeProgram(program, {
    understood: { "-t 4 a": ["read a"], "--tabs=4 *.py": ["read *.py"] },
    notUnderstood: ["--tab=4 a", "-x a"],
  });
}
