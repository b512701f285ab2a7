import { describeProgram } from "../../test/describe-program.ts";
import { hexdump } from "./hexdump.ts";

describeProgram(hexdump, {
  understood: { "-C a | ": ["read a", "read |"], "-C -n 64 a": ["read a"] },
  notUnderstood: ["--canon a", "-Z a"],
});
