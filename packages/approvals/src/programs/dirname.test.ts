import { describeProgram } from "../../test/describe-program.ts";
import { dirname } from "./dirname.ts";

describeProgram(dirname, { understood: { "<unknown>": [], "a/b": [] }, notUnderstood: ["--zer a", "-x a"] });
