import { describeProgram } from "../../test/describe-program.ts";
import { uname } from "./uname.ts";

describeProgram(uname, { understood: { "-a": [], "-sm": [] }, notUnderstood: ["x", "--al"] });
