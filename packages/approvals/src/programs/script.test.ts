import { describeProgram } from "../../test/describe-program.ts";
import { script } from "./script.ts";

describeProgram(script, {
  understood: {
    "-qc 'npm test' /dev/null": ["shell npm test", "write /dev/null"],
    "-c ls": ["shell ls", "write typescript"],
    "-c ls -O a": ["shell ls", "write a", "write typescript"],
  },
  notUnderstood: ["", "out", "--comm ls out", "-c <unknown> x", "-c ls a b", "-t out -c ls"],
});
