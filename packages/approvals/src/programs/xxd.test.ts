import { describeProgram } from "../../test/describe-program.ts";
import { xxd } from "./xxd.ts";

describeProgram(xxd, {
  understood: {
    "a.bin": ["read a.bin"],
    "-l 64 a.bin": ["read a.bin"],
    "-r -p in out": ["read in", "write out"],
    "-p a.txt": ["read a.txt"],
    "a.txt -p": ["read a.txt", "write -p"],
    "a.txt --": ["read a.txt", "write --"],
    "a*": ["read a*", "write a*"],
  },
  notUnderstood: ["-rp a b", "a b c", "-help a", "*"],
});
