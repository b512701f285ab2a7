import { describeProgram } from "../../test/describe-program.ts";
import { tail } from "./tail.ts";

describeProgram(tail, {
  understood: {
    "-f logs/dev.log": ["read logs/dev.log"],
    "-n +5 a.txt": ["read a.txt"],
    "-100 *.log": ["read *.log"],
    "--follow=name a": ["read a"],
  },
  notUnderstood: ["--foll=name a", "--follow=all a", "-n x a", "-y a"],
});
