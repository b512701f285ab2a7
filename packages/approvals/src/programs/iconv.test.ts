import { describeProgram } from "../../test/describe-program.ts";
import { iconv } from "./iconv.ts";

describeProgram(iconv, {
  understood: { "-f latin1 -t utf-8 a": ["read a"], "-t utf-8 -o out a": ["write out", "read a"] },
  notUnderstood: ["--outp=x a", "*", "-x"],
});
