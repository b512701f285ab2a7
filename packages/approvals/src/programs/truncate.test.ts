import { describeProgram } from "../../test/describe-program.ts";
import { truncate } from "./truncate.ts";

describeProgram(truncate, {
  understood: { "-s 0 log.txt": ["write log.txt"] },
  notUnderstood: ["--siz=0 a", "*", "<unknown>"],
});
