import { describeProgram } from "../../test/describe-program.ts";
import { bzip2 } from "./bzip2.ts";

describeProgram(bzip2, {
  understood: { a: ["read a", "write a.bz2", "delete a"], "-dk a.bz2": ["read a.bz2", "write a"] },
  notUnderstood: ["-t -d a", "--decomp a", "*", "<unknown>", "-L a"],
});
