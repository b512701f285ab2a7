import { describeProgram } from "../../test/describe-program.ts";
import { envsubst } from "./envsubst.ts";

describeProgram(envsubst, { understood: { "": [], "'$HOME $USER'": [] }, notUnderstood: ["a b", "--var x"] });
