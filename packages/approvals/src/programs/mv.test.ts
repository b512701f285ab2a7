import { describeProgram } from "../../test/describe-program.ts";
import { mv } from "./mv.ts";

describeProgram(mv, {
  understood: {
    "a b": ["delete-tree a", "write b", "write b/a"],
    "-t out a": ["write out", "delete-tree a", "write out/a"],
    "src/*.js lib/": ["delete-tree src/*.js", "write lib/", "write lib/*.js"],
  },
  notUnderstood: [
    "a",
    "--target-dir=x a",
    "-b a b",
    "* x",
    "a b*",
    "<unknown> b",
    "a <unknown>",
    "--back a b",
  ],
});
