import { describeProgram } from "../../test/describe-program.ts";
import { split } from "./split.ts";

describeProgram(split, {
  understood: {
    "-l 100 a.txt": ["read a.txt", "write x*"],
    "-b 1M a.bin out/part-": ["read a.bin", "write out/part-*"],
  },
  notUnderstood: ["--filter='sh' a", "--filter=sh a", "--filt=sh a", "a b c", "a*", "a <unknown>"],
});
