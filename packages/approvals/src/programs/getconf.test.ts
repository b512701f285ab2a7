import { describeProgram } from "../../test/describe-program.ts";
import { getconf } from "./getconf.ts";

describeProgram(getconf, {
  understood: { PAGESIZE: [], "NAME_MAX /tmp": ["read /tmp"] },
  notUnderstood: ["-v x"],
});
