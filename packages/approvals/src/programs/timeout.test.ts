import { describeProgram } from "../../test/describe-program.ts";
import { timeout } from "./timeout.ts";

describeProgram(timeout, {
  understood: {
    "10 npm test": ["command npm test"],
    "-k 5 -s KILL 1.5m rm -rf x": ["command rm -rf x"],
    "--signal=TERM 30s git status": ["command git status"],
  },
  notUnderstood: ["", "10", "soon npm test", "--sig=TERM 10 npm test", "<unknown> npm test"],
});
