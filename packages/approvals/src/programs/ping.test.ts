import { describeProgram } from "../../test/describe-program.ts";
import { ping } from "./ping.ts";

describeProgram(ping, {
  understood: { "-c 1 localhost": ["connect localhost"] },
  notUnderstood: ["", "-f localhost", "-p ff localhost", "a b"],
});
