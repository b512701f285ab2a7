import { describeProgram } from "../../test/describe-program.ts";
import { expr } from "./expr.ts";

describeProgram(expr, { understood: { "1 + 2": [], "<unknown> : '.*'": [] }, notUnderstood: [] });
