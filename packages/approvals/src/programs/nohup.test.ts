import { describeProgram } from "../../test/describe-program.ts";
import { nohup } from "./nohup.ts";

describeProgram(nohup, {
  understood: { "npm start": ["write nohup.out", "command npm start"] },
  notUnderstood: ["", "-x", "<unknown>"],
});
