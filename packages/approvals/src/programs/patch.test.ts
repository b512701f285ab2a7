import { describeProgram } from "../../test/describe-program.ts";
import { patch } from "./patch.ts";

describeProgram(patch, {
  understood: {
    "-p1": ["action unpack", "write ."],
    "-p1 -i fix.diff": ["action unpack", "write .", "read fix.diff"],
    "-d vendor -p1": ["action unpack", "write .", "enter vendor"],
    "a.c fix.diff": ["action unpack", "write .", "read a.c", "write a.c", "read fix.diff"],
  },
  notUnderstood: ["-e", "-o out a", "--outp=x a", "--get=1", "--strip", "*"],
});
