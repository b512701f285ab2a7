import { describeProgram } from "../../test/describe-program.ts";
import { typeBuiltin } from "./type.ts";

describeProgram(typeBuiltin, { understood: { "-t node": [] }, notUnderstood: ["-x y", "--all x"] });
