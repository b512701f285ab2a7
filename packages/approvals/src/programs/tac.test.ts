import { describeProgram } from "../../test/describe-program.ts";
import { tac } from "./tac.ts";

describeProgram(tac, { understood: { "a b": ["read a", "read b"] }, notUnderstood: ["--sep=x a", "-x a"] });
