import { describeProgram } from "../../test/describe-program.ts";
import { col } from "./col.ts";

describeProgram(col, { understood: { "-bx": [] }, notUnderstood: ["file", "--line"] });
