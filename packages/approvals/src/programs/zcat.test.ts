import { describeProgram } from "../../test/describe-program.ts";
import { bzcat, xzcat, zcat, zstdcat } from "./zcat.ts";

for (const program of [bzcat, xzcat, zcat, zstdcat]) {
  describeProgram(program, {
    understood: { "a.gz": ["read a.gz"], "-f logs/*": ["read logs/*"] },
    notUnderstood: ["-o x a", "--forc a", "*", "-S .x a"],
  });
}
