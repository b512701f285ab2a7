import { describeProgram } from "../../test/describe-program.ts";
import { strings } from "./strings.ts";

describeProgram(strings, {
  understood: { "-n 8 a.out": ["read a.out"], "-t x a": ["read a"] },
  notUnderstood: ["--targ=x a", "-T x a", "-t q a", "@list", "a @list"],
});
