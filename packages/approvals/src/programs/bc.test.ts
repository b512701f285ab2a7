import { describeProgram } from "../../test/describe-program.ts";
import { bc } from "./bc.ts";

describeProgram(bc, {
  understood: { "": [], "-l sums.bc": ["read sums.bc"] },
  notUnderstood: ["-i", "--math"],
});
