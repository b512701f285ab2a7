import { describeProgram } from "../../test/describe-program.ts";
import { cut } from "./cut.ts";

describeProgram(cut, {
  understood: { "-d: -f1,3- /etc/passwd": ["read /etc/passwd"], "-c 1-8": [] },
  notUnderstood: ["--field=1 a", "--output=x a", "-x"],
});
