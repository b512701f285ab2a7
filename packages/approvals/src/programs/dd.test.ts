import { describeProgram } from "../../test/describe-program.ts";
import { dd } from "./dd.ts";

describeProgram(dd, {
  understood: {
    "if=/dev/zero of=a.bin bs=1M count=1": ["read /dev/zero", "write a.bin"],
    "if=a": ["read a"],
    "bs=1 of=x": ["write x"],
  },
  notUnderstood: ["", "of=*", "<unknown>", "file=x", "if", "--bs=1"],
});
