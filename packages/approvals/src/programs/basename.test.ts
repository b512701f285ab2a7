import { describeProgram } from "../../test/describe-program.ts";
import { basename } from "./basename.ts";

describeProgram(basename, {
  understood: { "<unknown> .ts": [], "-s .ts src/a.ts": [] },
  notUnderstood: ["--mult a", "-x a"],
});
