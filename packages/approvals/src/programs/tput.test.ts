import { describeProgram } from "../../test/describe-program.ts";
import { tput } from "./tput.ts";

describeProgram(tput, { understood: { cols: [] }, notUnderstood: ["", "init", "-T x cols"] });
