import { describeProgram } from "../../test/describe-program.ts";
import { diff } from "./diff.ts";

describeProgram(diff, {
  understood: {
    "-u a b": ["read a", "read b"],
    "-rq --exclude=node_modules a b": ["read a", "read b"],
    "-U5 a -": ["read a"],
    "--to-file=x a b": ["read x", "read a", "read b"],
  },
  notUnderstood: ["-l a b", "--paginate a b", "--to=x a", "*", "--uni=3 a b"],
});
