import { describeProgram } from "../../test/describe-program.ts";
import { dir } from "./dir.ts";

describeProgram(dir, { understood: { "-a .": ["read ."] }, notUnderstood: ["-x"] });
