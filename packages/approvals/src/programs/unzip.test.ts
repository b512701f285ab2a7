import { describeProgram } from "../../test/describe-program.ts";
import { unzip } from "./unzip.ts";

describeProgram(unzip, {
  understood: {
    "-l a.zip": ["read a.zip"],
    "-q a.zip -d out": ["write out", "read a.zip", "action unpack"],
    "a.zip": ["read a.zip", "action unpack", "write ."],
    "-p a.zip x.txt": ["read a.zip"],
    "-Z1 a.zip": ["read a.zip"],
  },
  notUnderstood: [
    "a.zip -x -d ../home",
    "",
    "-: a.zip",
    "-d <unknown> a.zip",
    "a*",
    "<unknown>",
    "-X a.zip",
    "-K a.zip",
  ],
});
