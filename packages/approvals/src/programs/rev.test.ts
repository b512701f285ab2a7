import { describeProgram } from "../../test/describe-program.ts";
import { rev } from "./rev.ts";

describeProgram(rev, { understood: { a: ["read a"] }, notUnderstood: ["-x a", "--help"] });
