import { describeProgram } from "../../test/describe-program.ts";
import { netstat } from "./netstat.ts";

describeProgram(netstat, { understood: { "-tlnp": [] }, notUnderstood: ["-c", "x", "--tcp"] });
