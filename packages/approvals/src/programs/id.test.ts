import { describeProgram } from "../../test/describe-program.ts";
import { id } from "./id.ts";

describeProgram(id, { understood: { "-un": [], root: [] }, notUnderstood: ["--nam", "-x"] });
