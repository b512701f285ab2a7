import { describeProgram } from "../../test/describe-program.ts";
import { free } from "./free.ts";

describeProgram(free, { understood: { "-h": [], "-m -s 1 -c 3": [] }, notUnderstood: ["x", "--hum"] });
