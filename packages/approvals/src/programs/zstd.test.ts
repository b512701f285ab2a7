import { describeProgram } from "../../test/describe-program.ts";
import { zstd } from "./zstd.ts";

describeProgram(zstd, {
  understood: {
    a: ["read a", "write a.zst"],
    "-19 -T0 a -o out.zst": ["write out.zst", "read a"],
    "-d a.zst": ["read a.zst", "write a"],
    "--rm a": ["read a", "write a.zst", "delete a"],
  },
  notUnderstood: [
    "-t -d a",
    "--output-dir-flat=x a",
    "--filelist=x",
    "-r dir",
    "--decomp a",
    "*",
    "<unknown>",
  ],
});
