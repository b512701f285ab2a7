import { describeProgram } from "../../test/describe-program.ts";
import { setsid } from "./setsid.ts";

describeProgram(setsid, {
  understood: { "-f npm start": ["command npm start"] },
  notUnderstood: ["", "--for ls", "<unknown>"],
});
