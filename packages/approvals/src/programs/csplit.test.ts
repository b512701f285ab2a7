import { describeProgram } from "../../test/describe-program.ts";
import { csplit } from "./csplit.ts";

describeProgram(csplit, {
  understood: {
    "a.txt '/^#/' '{*}'": ["read a.txt", "write xx*"],
    "-f out/p a 10": ["read a", "write out/p*"],
  },
  notUnderstood: ["a", "--pref=x a 10", "-f <unknown> a 10", "-b %d a 10"],
});
