import { describeProgram } from "../../test/describe-program.ts";
import { time } from "./time.ts";

describeProgram(time, {
  understood: { "-p npm test": ["command npm test"], "-v -o t.txt make": ["write t.txt", "command make"] },
  notUnderstood: ["--outp=x ls", "-x ls", "<unknown>"],
});
