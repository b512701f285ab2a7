import { describeProgram } from "../../test/describe-program.ts";
import { arch, groups, logname, tty, whoami } from "./whoami.ts";

for (const program of [arch, groups, logname, tty, whoami]) {
  describeProgram(program, { understood: { "": [], "--version": [] }, notUnderstood: ["x", "-x", "--vers"] });
}
