import { describeProgram } from "../../test/describe-program.ts";
import { nproc } from "./nproc.ts";

describeProgram(nproc, { understood: { "": [], "--ignore=1": [] }, notUnderstood: ["x", "--al"] });
