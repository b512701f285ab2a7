import { describeProgram } from "../../test/describe-program.ts";
import { chmod } from "./chmod.ts";

describeProgram(chmod, {
  understood: {
    "+x run.sh": ["write run.sh"],
    "-x a": ["write a"],
    "644 src/*.ts": ["write src/*.ts"],
    "-R u+w,go-w out": ["write out", "write out/**"],
    "-R 777 .": ["write .", "write ./**", "write ./**/.*"],
    "-R 777 a/../..": ["write a/../..", "write a/../../**", "write a/../../**/.*"],
  },
  notUnderstood: [
    "4755 a",
    "u+s a",
    "--recurs 644 a",
    "a*  x",
    "<unknown> a",
    "644 <unknown>",
    "644",
    "--no-preserve-root -R 777 /",
  ],
});
