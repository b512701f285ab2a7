import { describeProgram } from "../../test/describe-program.ts";
import { colon, falseProgram, trueProgram } from "./no-operation.ts";

for (const program of [colon, falseProgram, trueProgram]) {
  describeProgram(program, { understood: { "": [], "-x * <unknown>": [] }, notUnderstood: [] });
}
