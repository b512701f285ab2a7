import { describeProgram } from "../../test/describe-program.ts";
import { numfmt } from "./numfmt.ts";

describeProgram(numfmt, {
  understood: { "--to=iec 1048576": [], "--to=si <unknown>": [] },
  notUnderstood: ["--padding=x 1", "--to"],
});
