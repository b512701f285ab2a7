import { describeProgram } from "../../test/describe-program.ts";
import { pkill } from "./pkill.ts";

describeProgram(pkill, {
  understood: {
    "-f vite": ["action process"],
    "-9 node": ["action process"],
    "--signal TERM node": ["action process"],
  },
  notUnderstood: ["", "--sig=9 x", "-v x", "a b", "<unknown>"],
});
