import { describeProgram } from "../../test/describe-program.ts";
import { pidof } from "./pidof.ts";

describeProgram(pidof, { understood: { node: [] }, notUnderstood: ["--single x", "-Z x"] });
