import { describeProgram } from "../../test/describe-program.ts";
import { egrep, fgrep, grep } from "./grep.ts";

for (const program of [egrep, fgrep, grep]) {
  describeProgram(program, {
    understood: {
      "-rn foo .": ["read ."],
      "-E '^(a|b)' CHANGELOG.md": ["read CHANGELOG.md"],
      "-e x -e y src": ["read src"],
      "--include=*.ts -r x src": ["read src"],
      "foo *.ts": ["read *.ts"],
      "-f list a": ["read list", "read a"],
      "-n foo <unknown>": ["read <unknown>"],
      "-5 x a": ["read a"],
      "-- -x a": ["read a"],
    },
    notUnderstood: ["", "-r", "--recurs x .", "--incl=*.ts x .", "-Y x", "--color=red x", "-A x y"],
  });
}
