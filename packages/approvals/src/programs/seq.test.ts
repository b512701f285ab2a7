import { describeProgram } from "../../test/describe-program.ts";
import { seq } from "./seq.ts";

describeProgram(seq, {
  understood: { "1 10": [], "-s, 5": [] },
  notUnderstood: ["--sep=, 5", "x", "<unknown>"],
});
