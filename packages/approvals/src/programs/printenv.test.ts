import { describeProgram } from "../../test/describe-program.ts";
import { printenv } from "./printenv.ts";

describeProgram(printenv, { understood: { "": [], "PATH HOME": [] }, notUnderstood: ["--nul", "-x"] });
