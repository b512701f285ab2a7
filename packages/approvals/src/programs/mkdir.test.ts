import { describeProgram } from "../../test/describe-program.ts";
import { mkdir } from "./mkdir.ts";

describeProgram(mkdir, {
  understood: { "-p a/b c": ["write a/b", "write c"], "-m 700 x": ["write x"] },
  notUnderstood: ["--par a", "-Z a", "<unknown>", "*", "-m 2777 x"],
});
