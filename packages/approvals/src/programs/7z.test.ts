import { describeProgram } from "../../test/describe-program.ts";
import { sevenZip } from "./7z.ts";

describeProgram(sevenZip, {
  understood: {
    "l a.7z": ["read a.7z"],
    "x a.7z -oout -y": ["write out", "read a.7z", "action unpack"],
    "a out.7z src b*": ["write out.7z", "read src", "read b*"],
    "x a.7z": ["read a.7z", "action unpack", "write ."],
  },
  notUnderstood: [
    "",
    "d a.7z x",
    "a out.7z @list",
    "x <unknown>",
    "x a*",
    "-sdel a x",
    "a out.7z -sdel x",
    "b",
  ],
});
