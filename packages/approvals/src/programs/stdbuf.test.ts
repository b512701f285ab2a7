import { describeProgram } from "../../test/describe-program.ts";
import { stdbuf } from "./stdbuf.ts";

describeProgram(stdbuf, {
  understood: { "-oL npm test": ["command npm test"], "--output=0 ls": ["command ls"] },
  notUnderstood: ["-oL", "--outp=L ls", "<unknown>"],
});
