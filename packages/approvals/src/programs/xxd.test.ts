import { describeProgram } from "../../test/describe-program.ts";
import { xxd } from "./xxd.ts";

describeProgram(xxd, {
  understood: {
    "a.bin": ["read a.bin"],
    "-l 64 a.bin": ["read a.bin"],
    "-r -p in out": ["read in", "write out"],
    "a*": ["read a*", "write a*"],
  },
  notUnderstood: ["-rp a b", "a b c", "-help a", "*"],
});
