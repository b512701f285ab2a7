import { describeProgram } from "../../test/describe-program.ts";
import { head } from "./head.ts";

describeProgram(head, {
  understood: {
    "": [],
    "-20 a.txt": ["read a.txt"],
    "-n 5 -q a.txt src/*.ts": ["read a.txt", "read src/*.ts"],
    "-c 1K -": [],
    "-1 *.txt": ["read *.txt"],
  },
  notUnderstood: ["--line=5 a.txt", "-n <unknown> a.txt", "-n 1* a.txt", "-x"],
});
