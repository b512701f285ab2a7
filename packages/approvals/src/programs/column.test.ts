import { describeProgram } from "../../test/describe-program.ts";
import { column } from "./column.ts";

describeProgram(column, {
  understood: { "-t -s,": [], "-ts, a.csv": ["read a.csv"] },
  notUnderstood: ["--tab a", "-Z a"],
});
