import { describeProgram } from "../../test/describe-program.ts";
import { realpath } from "./realpath.ts";

describeProgram(realpath, {
  understood: { "-m ../x": ["read ../x"], "--relative-to=. a": ["read .", "read a"] },
  notUnderstood: ["--relative=. a", "-x a"],
});
