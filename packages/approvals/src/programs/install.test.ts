import { describeProgram } from "../../test/describe-program.ts";
import { install } from "./install.ts";

describeProgram(install, {
  understood: {
    "-m 755 a bin/x": ["read a", "write bin/x", "write bin/x/a"],
    "-d a b": ["write a", "write b"],
    "-D -t out a": ["write out", "read a", "write out/a"],
  },
  notUnderstood: ["a", "-s a b", "--strip-program=x a b", "-o root a b", "* x", "-m 4755 a b", "-m u+s a b"],
});
