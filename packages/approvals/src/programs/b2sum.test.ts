import { describeProgram } from "../../test/describe-program.ts";
import { b2sum } from "./b2sum.ts";

describeProgram(b2sum, { understood: { "-l 256 a": ["read a"] }, notUnderstood: ["--len=8 a", "-x"] });
