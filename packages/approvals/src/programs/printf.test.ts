import { describeProgram } from "../../test/describe-program.ts";
import { printf } from "./printf.ts";

describeProgram(printf, {
  understood: { "'%s\\n' a -v": [], "-- -v": [], "'%s' <unknown>": [] },
  notUnderstood: ["-v x y", "<unknown>", "*"],
});
