import { describeProgram } from "../../test/describe-program.ts";
import { pwd } from "./pwd.ts";

describeProgram(pwd, { understood: { "": [], "-P": [] }, notUnderstood: ["x", "--log"] });
