import { describeProgram } from "../../test/describe-program.ts";
import { hostname } from "./hostname.ts";

describeProgram(hostname, {
  understood: { "": [], "-I": [] },
  notUnderstood: ["newname", "-F file", "-b", "--sho"],
});
