import { describeProgram } from "../../test/describe-program.ts";
import { fold } from "./fold.ts";

describeProgram(fold, {
  understood: { "-sw 80 a": ["read a"] },
  notUnderstood: ["--wid=3 a", "-w x a", "-z"],
});
