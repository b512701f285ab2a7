import { describeProgram } from "../../test/describe-program.ts";
import { killall } from "./killall.ts";

describeProgram(killall, {
  understood: { "-9 node": ["action process"] },
  notUnderstood: ["", "--sig=9 x", "-r x", "<unknown>"],
});
