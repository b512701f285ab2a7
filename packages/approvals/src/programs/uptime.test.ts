import { describeProgram } from "../../test/describe-program.ts";
import { uptime } from "./uptime.ts";

describeProgram(uptime, { understood: { "": [], "-p": [] }, notUnderstood: ["x", "--pret"] });
