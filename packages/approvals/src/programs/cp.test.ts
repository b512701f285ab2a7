import { describeProgram } from "../../test/describe-program.ts";
import { cp } from "./cp.ts";

describeProgram(cp, {
  understood: {
    "a b": ["read a", "write b", "write b/a"],
    "-r a/x out/": ["action unpack", "read a/x", "write out/", "write out/x"],
    "-t out a b": ["write out", "read a", "read b", "write out/a", "write out/b"],
    "src/*.ts lib": ["read src/*.ts", "write lib", "write lib/*.ts"],
    "-r a/. b": ["action unpack", "read a/.", "write b"],
    "a b -v": ["read a", "write b", "write b/a"],
  },
  notUnderstood: [
    "a",
    "--target-dir=x a",
    "--targ=x a",
    "-s a b",
    "-l a b",
    "-b a b",
    "--parents a b",
    "* x",
    "a b*",
    "<unknown> b",
    "a <unknown>",
    "--suffix=x a b",
  ],
});
