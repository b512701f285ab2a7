import { describeProgram } from "../../test/describe-program.ts";
import { od } from "./od.ts";

describeProgram(od, {
  understood: { "-c a": ["read a"], "-A x -t x1z -v a": ["read a"], "-An -tx1 -w16 a": ["read a"] },
  notUnderstood: ["--trad a", "-Z a"],
});
