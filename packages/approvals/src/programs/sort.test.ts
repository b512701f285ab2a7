import { describeProgram } from "../../test/describe-program.ts";
import { sort } from "./sort.ts";

describeProgram(sort, {
  understood: {
    "-rn": [],
    "-t, -k2,2n a.csv": ["read a.csv"],
    "-u -o out.txt in.txt": ["write out.txt", "read in.txt"],
    "in -oout": ["write out", "read in"],
    "--output=out in": ["write out", "read in"],
  },
  notUnderstood: [
    "--compress-program=sh a",
    "--outp=x a",
    "--compress-prog sh a",
    "-T /tmp a",
    "*.txt",
    "<unknown>",
    "-k * a",
  ],
});
