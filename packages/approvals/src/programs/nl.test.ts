import { describeProgram } from "../../test/describe-program.ts";
import { nl } from "./nl.ts";

describeProgram(nl, {
  understood: { "-ba src/app.py": ["read src/app.py"], "-w 3 -s ' ' *.ts": ["read *.ts"] },
  notUnderstood: ["-n zz a", "--body=a f", "-x a"],
});
