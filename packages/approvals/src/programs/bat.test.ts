import { describeProgram } from "../../test/describe-program.ts";
import { bat } from "./bat.ts";

describeProgram(bat, {
  understood: {
    "-pP src/a.ts": ["read src/a.ts"],
    "--paging=never -n a": ["read a"],
    a: ["read a", "action project-code"],
  },
  notUnderstood: ["--pager=sh a", "--paging=always a", "--pag=never a", "--config-file", "*"],
});
