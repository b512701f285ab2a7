import { describeProgram } from "../../test/describe-program.ts";
import { fmt } from "./fmt.ts";

describeProgram(fmt, { understood: { "-72 a": ["read a"] }, notUnderstood: ["--wid=3 a", "-x a"] });
