import { describeProgram } from "../../test/describe-program.ts";
import { rails } from "./rails.ts";

describeProgram(rails, {
  understood: {
    test: ["action project-code"],
    "server -b 127.0.0.1": ["action project-code"],
    "new ../x": ["action project-code", "write ../x", "execute ../x"],
  },
  notUnderstood: [],
});
