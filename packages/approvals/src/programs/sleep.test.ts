import { describeProgram } from "../../test/describe-program.ts";
import { sleep } from "./sleep.ts";

describeProgram(sleep, {
  understood: { "5": [], "0.5s": [] },
  notUnderstood: ["", "--hel", "soon", "<unknown>"],
});
