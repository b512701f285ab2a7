import { describeProgram } from "../../test/describe-program.ts";
import { nice } from "./nice.ts";

describeProgram(nice, {
  understood: { "": [], "-n 10 npm test": ["command npm test"], "-5 make": ["command make"] },
  notUnderstood: ["--adj=5 x", "-x ls", "<unknown>"],
});
